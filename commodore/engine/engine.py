"""The engine: instances in, rendered and filtered folders out, by workers that have imported Kapitan once.

Nothing in this module and what it imports loads Kapitan or the Go runtime: both live in worker processes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from commodore.engine import _fetching
from commodore.engine._nodes import write_nodes
from commodore.engine._pool import WorkerPool
from commodore.engine._tasks import CompileTask, Dependency, FetchTask, InspectTask, Outcome, Run, Task
from commodore.engine.model import CompiledInstance, CompileRequest, InstanceJob
from commodore.errors import CommodoreError, InputError, InternalError, did_you_mean, raise_all
from commodore.events import Announce, Noted, StageAdvanced, Warned
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.names import check_name
from commodore.workspace import Workspace, guard_disk, remove_tree, replace_tree

COMPILE_STAGE = "compile"
"""The stage whose progress is announced."""


def usable_cpus() -> int:
    """The CPUs this process may use (spec c 6.2)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Engine:
    """Compiles instances. A context manager: leaving it, by whatever way, ends all workers and what they have started.

    The workers get ready as soon as the engine is made, while the caller does something else. One engine may compile
    many times.

    Args:
        processes: number of workers, 0 for one per usable CPU; a request may ask for another number.
        announce: who listens.
        limits: bounds of sizes and counts.
    """

    def __init__(self, *, processes: int = 0, announce: Announce, limits: Limits = DEFAULT_LIMITS) -> None:
        self._processes = processes
        self._announce = announce
        self._limits = limits
        self._pool = WorkerPool()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers. The engine cannot be used any more."""
        self._pool.close()

    def compile(
        self, jobs: Sequence[InstanceJob], nodes: Mapping[str, Mapping[str, Any]], request: CompileRequest
    ) -> tuple[CompiledInstance, ...]:
        """Compile instances into `request.output/compiled/<instance>`, all or none of them (architecture 4).

        Args:
            jobs: what to compile. An instance without compile entries gives an empty folder, no jobs give nothing.
            nodes: the rendered inventory, every target with its node as plain data.
            request: what is common to the jobs.

        Returns:
            The instances in the order of the jobs.

        Raises:
            CommodoreError: something went wrong in one or more instances; all of it is told together, and what was in
                `compiled` before is unchanged.
        """
        _check(jobs, nodes)
        with guard_disk(request.root), Workspace(request.root).staging("compile") as staging:
            run = Run(
                key=uuid.uuid4().hex,
                request=request,
                targets=write_nodes(nodes, staging / "nodes", self._limits) if jobs else {},
                jobs={job.name: job for job in jobs},
                staging=staging,
                limits=self._limits,
            )
            seconds = _Compilation(run, self._pool, self._announce, self._size(request, len(jobs))).perform(nodes)
            publish(run)
        compiled = request.output / "compiled"
        return tuple(CompiledInstance(j.name, j.component, compiled / j.name, seconds[j.name]) for j in jobs)

    def _size(self, request: CompileRequest, jobs: int) -> int:
        return max(1, min(request.processes or self._processes or usable_cpus(), jobs))


def _check(jobs: Sequence[InstanceJob], nodes: Mapping[str, Any]) -> None:
    names = [job.name for job in jobs]
    if len(set(names)) != len(names):
        raise InternalError("CMD-ENG-050", "an instance is to be compiled twice")
    errors: list[CommodoreError] = []
    for name in names:
        check_name(name, "instance")
        if name not in nodes:
            errors.append(
                InputError(
                    "CMD-ENG-003", f"the inventory has no target for instance {name!r}", hint=did_you_mean(name, nodes)
                )
            )
    raise_all(errors)


class _Compilation:
    """One run: reads dependencies, fetches them, compiles. Keeps what went wrong, to tell all of it at the end."""

    def __init__(self, run: Run, pool: WorkerPool, announce: Announce, size: int) -> None:
        self._run = run
        self._pool = pool
        self._announce = announce
        self._size = size
        self._errors: dict[str, list[CommodoreError]] = defaultdict(list)

    def perform(self, nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
        """Seconds per instance.

        Raises:
            CommodoreError: see `Engine.compile`.
        """
        self._fetch(self._read_dependencies(nodes))
        seconds: dict[str, float] = {}

        def compiled(task: Task, outcome: Outcome) -> None:
            self._listen(task, outcome)
            if not outcome.errors:
                seconds[task.instance] = outcome.seconds
                self._announce(StageAdvanced(COMPILE_STAGE, task.instance, outcome.seconds))

        tasks = [CompileTask(self._run, name) for name in self._run.jobs if name not in self._errors]
        self._pool.run(tasks, self._size, compiled)
        raise_all([error for name in self._run.jobs for error in self._errors[name]])
        return seconds

    def _read_dependencies(self, nodes: Mapping[str, Mapping[str, Any]]) -> list[Dependency]:
        found: dict[str, tuple[Dependency, ...]] = {}

        def read(task: Task, outcome: Outcome) -> None:
            self._listen(task, outcome)
            found[task.instance] = outcome.value or ()

        names = [name for name in self._run.jobs if _names_dependencies(nodes[name])]
        self._pool.run([InspectTask(self._run, name) for name in names], self._size, read)
        return [dependency for name in names for dependency in found[name]]

    def _fetch(self, dependencies: list[Dependency]) -> None:
        refused = _fetching.check_outputs(dependencies, self._run)
        for instance, error in refused:
            self._errors[instance].append(error)
        chains = _fetching.plan(item for item in dependencies if item.instance not in self._errors)
        if not chains:
            return

        def fetched(task: Task, outcome: Outcome) -> None:
            self._listen(task, outcome)
            if outcome.errors and isinstance(task, FetchTask):
                for instance in {item.instance for chain in task.chains for group in chain for item in group}:
                    self._errors[instance] = self._errors[instance] or []
            for instances, error in outcome.value or ():
                self._errors[instances[0]].append(error)
                for instance in instances[1:]:
                    self._errors.setdefault(instance, [])

        self._pool.run(_fetching.as_tasks(chains, self._run, self._size), self._size, fetched)

    def _listen(self, task: Task, outcome: Outcome) -> None:
        if outcome.errors:
            self._errors[task.instance].extend(outcome.errors)
        for note in outcome.notes:
            self._announce(Noted(note, level=1))
        for warning in outcome.warnings:
            self._announce(Warned("CMD-ENG-051", warning))


def _names_dependencies(node: Mapping[str, Any]) -> bool:
    kapitan = node["parameters"].get("kapitan")
    return isinstance(kapitan, Mapping) and bool(kapitan.get("dependencies"))


def publish(run: Run) -> None:
    """Put what was rendered in the place of what was there before, by renames.

    With `replace_all` the whole folder `compiled` is replaced at once, else each instance's folder.
    """
    compiled = run.request.output / "compiled"
    with _beside(run) as beside:
        fresh = beside / "compiled"
        fresh.mkdir()
        fresh.chmod(0o755)  # whatever the umask
        for name in run.jobs:
            _move(run.rendered(name), fresh / name)
        if run.request.replace_all:
            replace_tree(fresh, compiled)
            return
        for name in run.jobs:
            replace_tree(fresh / name, compiled / name)


@contextmanager
def _beside(run: Run) -> Iterator[Path]:
    """A folder on the file system of the output: the staging folder itself, or a temporary one in the output folder."""
    output = run.request.output
    output.mkdir(parents=True, exist_ok=True)
    if output.stat().st_dev == run.staging.stat().st_dev:
        yield run.staging
        return
    folder = Path(tempfile.mkdtemp(prefix=".compiled-", dir=output))
    try:
        yield folder
    finally:
        remove_tree(folder)


def _move(source: Path, target: Path) -> None:
    if source.stat().st_dev == target.parent.stat().st_dev:
        source.rename(target)
    else:
        shutil.copytree(source, target, symlinks=True)
