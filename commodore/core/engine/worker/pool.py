"""The pool of rendering workers, and the errors if a worker dies."""

from __future__ import annotations

import contextlib
import signal

from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.base.exhaustion import find_in_output
from commodore.base.programs.child_processes import has_less_memory
from commodore.base.programs.workers import WorkerEnd, WorkerPool
from commodore.core.engine.tasks import CompileTask, FetchTask, Task, TaskOutcome

_OUT_OF_MEMORY = (2, -signal.SIGABRT)  # exit of the Go runtime, and signal of libraries


def worker_pool(module: str = "commodore.core.engine.worker.worker") -> WorkerPool[Task, TaskOutcome]:
    """Create a pool of workers that have imported Kapitan."""
    return WorkerPool(module, lambda task, end: TaskOutcome(errors=(_explain_death(task, end),)))


def _explain_death(task: Task, end: WorkerEnd) -> CommodoreError:
    """Return the error for a worker that ended without an answer."""
    if end.is_late:
        return PolicyError(
            "CMD-CONF-009",
            f"instance {task.instance!r}: {_last_step(task)} did not end within {task.run.rendering_seconds:g} seconds",
            hint="look for an endless loop there; for more time, raise rendering_seconds in a trust policy or with "
            "COMMODORE_LIMITS",
        )
    if end.status in _OUT_OF_MEMORY and isinstance(task, CompileTask) and not has_less_memory(task.run.rendering_bytes):
        return PolicyError(
            "CMD-CONF-010",
            f"instance {task.instance!r}: {_last_step(task)} takes more than {task.run.rendering_bytes} bytes "
            "of memory",
            hint="look for something that grows without end there; for more memory, raise rendering_bytes in a trust "
            "policy or with COMMODORE_LIMITS",
        )
    if end.failed is not None:
        return find_in_output(end.failed, "the rendering engine cannot start") or EnvironmentFault(
            "CMD-ENG-004",
            f"the rendering engine cannot start: {end.failed}",
            hint="the installation is incomplete: install commodore with its dependencies again",
        )
    what = "fetching dependencies" if isinstance(task, FetchTask) else "compiling"
    if not isinstance(task, CompileTask | FetchTask):
        what = "reading"
    return EnvironmentFault(
        "CMD-ENG-005",
        f"the worker process {what} instance {task.instance!r} {end}",
        hint="it may have run out of memory: try again with fewer processes (--processes 1)",
    )


def _last_step(task: Task) -> str:
    """Return the step that the worker last wrote to its step file."""
    with contextlib.suppress(OSError):
        return task.run.step_file(task.instance).read_text(encoding="utf-8", errors="replace")
    return "reading its settings"
