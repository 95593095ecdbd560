"""A worker: receives tasks from its connection, performs them and responds. Imports Kapitan; runs only below the
server.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import traceback
import warnings
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings, InternalError
from commodore.base.events import Event, Warned
from commodore.base.exhaustion import judge, refusal
from commodore.base.programs.child_processes import bound_memory
from commodore.base.programs.workers import TaskReceiver
from commodore.core.engine.cache import results as _recording
from commodore.core.engine.filters import run as filters
from commodore.core.engine.filters.jsonnet import FilterWork
from commodore.core.engine.jsonnet.evaluator import Evaluator
from commodore.core.engine.kapitan import renderer as _kapitan
from commodore.core.engine.kapitan.fetch import fetch_groups
from commodore.core.engine.tasks import BatchRun, CompileTask, FetchTask, InspectTask, Record, Task, TaskOutcome
from commodore.core.sources.git import redact_text

_QUERY = re.compile(r"(?<=[^\s/])\?[\w.~%-]+=[^\s'\"/]+")


class _Notes(logging.Handler):
    """Collects the log messages of Kapitan and its libraries, for the main process to announce."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # Fetched files have the query of their URL in their names.
        self.lines.append(_QUERY.sub("", redact_text(record.getMessage())))

    def take(self) -> tuple[str, ...]:
        lines = tuple(line for line in self.lines if line.strip())
        self.lines.clear()
        return lines


class Worker:
    """Performs tasks. Keeps the renderer of the current run, and the targets that it has read."""

    def __init__(self) -> None:
        self._renderer: _kapitan.InstanceRenderer | None = None
        self._run_key = ""
        self._notes = _Notes()
        self._installed = frozenset(sys.modules)
        self._inputs: set[Path] = set()
        logging.basicConfig(handlers=[self._notes], force=True)
        warnings.simplefilter("ignore")  # of libraries, for their developers

    def perform(self, task: Task) -> TaskOutcome:
        """Perform a task. Never raises: errors of any kind are part of the outcome."""
        start = time.perf_counter()
        try:
            outcome = self._perform(task)
        except Findings as findings:
            outcome = TaskOutcome(errors=findings.errors)
        except CommodoreError as error:
            outcome = TaskOutcome(errors=(error,))
        except Exception as error:
            fault = refusal(error, f"instance {task.instance!r}")
            outcome = TaskOutcome(errors=(fault or _unexpected(error, task),))
        outcome = replace(
            outcome, errors=tuple(judge(error, f"instance {task.instance!r}") for error in outcome.errors)
        )
        notes = outcome.notes + self._notes.take()
        return replace(outcome, notes=notes, seconds=time.perf_counter() - start, started=start)

    def _perform(self, task: Task) -> TaskOutcome:
        renderer = self._renderer_of(task.run)
        if isinstance(task, InspectTask):
            return TaskOutcome(dependencies=renderer.dependencies(task.instance))
        if isinstance(task, FetchTask):
            failures, kept = fetch_groups(task, renderer.parts.dependencies)
            return TaskOutcome(failures=failures, kept=kept, remote=renderer.parts.take_counts())
        assert isinstance(task, CompileTask)
        self._forget_modules()
        return _compile(renderer, task)

    def _forget_modules(self) -> None:
        """Unload the Python modules that kadet inputs of other instances have loaded: modules of this instance may have
        the same names, in another component, or in another version of it for another cluster.
        """
        for name in sys.modules.keys() - self._installed:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and self._is_input(Path(os.path.abspath(file))):
                del sys.modules[name]

    def _is_input(self, file: Path) -> bool:
        return not file.is_relative_to(sys.prefix) and not self._inputs.isdisjoint(file.parents)

    def _renderer_of(self, run: BatchRun) -> _kapitan.InstanceRenderer:
        if self._renderer is None or self._run_key != run.key:
            logging.getLogger().setLevel(logging.DEBUG if run.request.verbose else logging.WARNING)
            os.chdir(run.request.directory or run.request.root)
            os.environ.clear()
            os.environ.update(run.environment)
            time.tzset()
            self._renderer, self._run_key = _kapitan.InstanceRenderer(run), run.key
            self._inputs |= {run.request.root, *run.request.search_paths}
        return self._renderer


def _compile(renderer: _kapitan.InstanceRenderer, task: CompileTask) -> TaskOutcome:
    """Render and filter an instance. Errors of filter definitions and of the rendering are reported together."""
    errors: list[CommodoreError] = []
    warnings: list[Warned] = []
    context = _collecting_warnings(task.run.context(), warnings)
    notes: list[str] = []
    steps: tuple[filters.Filter, ...] = ()
    start = time.perf_counter()
    node = renderer.node(task.instance)
    evaluator = Evaluator(task.run.request.root)
    confinement = renderer.confinements.of(task.instance)
    bound_memory(task.run.rendering_bytes)
    reads = _recording.begin(task.run, task.instance, renderer.programs)
    renderer.parts.taken.clear()
    renderer.parts.kept.clear()
    try:
        steps = filters.read_filters(node, task.run.jobs[task.instance], context)
    except Findings as findings:
        errors.extend(findings.errors)
    except CommodoreError as error:
        errors.append(error)
    try:
        renderer.compile(task.instance, reads, evaluator, confinement, context)
    except Findings as findings:
        errors.extend(findings.errors)
    except CommodoreError as error:
        errors.append(error)
    rendered = time.perf_counter()
    if not errors:
        inside = confinement.for_output_only()
        work = FilterWork(task.run, node, reads, evaluator, renderer.parts, inside, context)
        notes.extend(filters.run_filters(steps, work))
    filtered = time.perf_counter()
    if errors:
        record = Record(reads.conclude(), "it has failed", reads.unseen)
    else:
        dependencies = renderer.dependencies(task.instance)
        record = _recording.finish(task.run, node, reads, dependencies, evaluator.traces, warnings)
    done = time.perf_counter()
    parts = (("render", rendered - start), ("filter", filtered - rendered), ("record", done - filtered))
    taken = tuple(renderer.parts.taken)
    messages = [f"instance {task.instance!r}: taken from the cache: {', '.join(taken)}"] if taken else []
    return TaskOutcome(
        record=record,
        errors=tuple(errors),
        warnings=tuple(warnings),
        notes=(*notes, *messages),
        traces=tuple(evaluator.traces),
        parts=parts,
        evaluations=evaluator.evaluations(),
        taken=taken,
        kept=(*renderer.parts.kept, *([record.kept] if record.kept is not None else [])),
        remote=renderer.parts.take_counts(),
    )


def _collecting_warnings(context: Context, warnings: list[Warned]) -> Context:
    """Return the context with a listener that collects warnings."""

    def on_event(event: Event) -> None:
        if isinstance(event, Warned):
            warnings.append(event)
        else:
            context.announce(event)

    return context.with_announce(on_event)


def _unexpected(error: Exception, task: Task) -> InternalError:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return InternalError(
        "CMD-ENG-006",
        f"instance {task.instance!r}: {type(error).__name__}: {redact_text(str(error))} ({place})",
        hint="this is a bug in commodore: please report it with this message",
    )


def work(descriptor: int) -> None:
    """Serve one connection until the main process closes it."""
    connection = Connection(descriptor)
    receiver: TaskReceiver[Task] = TaskReceiver(connection)
    worker = Worker()
    while True:
        try:
            task = receiver.receive()
        except EOFError:
            return
        connection.send(worker.perform(task))
