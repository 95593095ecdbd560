"""The scheduler: the state of one call of `Engine.compile_batches`, and the order of its tasks.

Instances are read first, as fetching has to know all dependencies to fetch each once. After that an instance is
compiled as soon as its dependencies are fetched, the slowest ones first, while others' are still being fetched.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.base.events import Announce, Noted, StageAdvanced, TaskBegun, TaskEnded
from commodore.base.files.workspace import Workspace, remove_tree, write_atomically
from commodore.base.limits import Limits
from commodore.core.engine.cache import fetch_plan as _fetching
from commodore.core.engine.cache.fetch_plan import places_read
from commodore.core.engine.cache.instance_records import read_record
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.results import Reuse
from commodore.core.engine.cache.static_key import OBSERVED_INPUTS, WRAPPER, installed
from commodore.core.engine.jsonnet.traces import trace_events
from commodore.core.engine.schedule.fetch_places import check_outputs
from commodore.core.engine.tasks import (
    BatchRun,
    CompileTask,
    FetchTask,
    InspectTask,
    Record,
    Task,
    TaskOutcome,
    Unit,
)
from commodore.core.sources.git import redact


def read_durations(root: Path, limits: Limits) -> dict[str, float]:
    """Read the seconds by instance of earlier runs in a working directory; empty if the file is missing or damaged."""
    try:
        with _file(root).open("rb") as file:
            content = json.loads(file.read(limits.durations_bytes))
    except (OSError, ValueError, RecursionError):
        return {}
    return _sound(content) if isinstance(content, dict) else {}


def _sound(content: Mapping[str, object]) -> dict[str, float]:
    return {
        name: float(seconds)
        for name, seconds in content.items()
        if isinstance(seconds, int | float) and 0 <= seconds < math.inf
    }


def write_durations(root: Path, durations: Mapping[str, float]) -> None:
    """Save durations for the next run in a working directory; errors of the disk are ignored."""
    rounded = {name: round(seconds, 3) for name, seconds in sorted(durations.items())}
    with contextlib.suppress(EnvironmentFault, PolicyError):
        write_atomically(_file(root), json.dumps(rounded, indent=0).encode() + b"\n", root=root)


def _file(root: Path) -> Path:
    return Workspace(root).state / "durations.json"


Rank = tuple[int, float]
"""Sort key of instances; the smallest is compiled first."""


class ReadyInstances:
    """Two queues of ready instances: ones that compute, and ones that mostly wait for the programs that they start.

    Args:
        rank: returns the sort key of an instance.
        waits: returns whether an instance mostly waits.
        directory: returns an instance's component directory.
        one_by_one: component directories of which no two instances may be compiled at the same time.
    """

    def __init__(
        self,
        rank: Callable[[Unit], Rank],
        waits: Callable[[Unit], bool],
        directory: Callable[[Unit], Path],
        one_by_one: Set[Path],
    ) -> None:
        self._rank = rank
        self._waits = waits
        self._directory = directory
        self._one_by_one = one_by_one
        self._occupied: set[Path] = set()
        self._queues: dict[bool, list[tuple[Rank, Unit]]] = {False: [], True: []}

    def __bool__(self) -> bool:
        return any(self._queues.values())

    def push(self, unit: Unit) -> None:
        """Add an instance that can be compiled."""
        heapq.heappush(self._queues[self._waits(unit)], (self._rank(unit), unit))

    def pop(self) -> Unit | None:
        """Remove and return the first instance of both queues whose directory is free; None without one."""
        ranked = sorted((queue[0], waits) for waits, queue in self._queues.items() if queue)
        return next((unit for _, waits in ranked if (unit := self._pop(waits)) is not None), None)

    def pop_computing(self) -> Unit | None:
        """Like `pop`, for instances that compute."""
        return self._pop(False)

    def pop_waiting(self) -> Unit | None:
        """Like `pop`, for instances that mostly wait."""
        return self._pop(True)

    def _pop(self, waits: bool) -> Unit | None:
        queue = self._queues[waits]
        passed = []
        unit = None
        while queue and unit is None:
            entry = heapq.heappop(queue)
            directory = self._directory(entry[1])
            if directory in self._occupied:
                passed.append(entry)
                continue
            if directory in self._one_by_one:
                self._occupied.add(directory)
            unit = entry[1]
        for entry in passed:
            heapq.heappush(queue, entry)
        return unit

    def end(self, unit: Unit) -> None:
        """Free the directory of an instance that is done."""
        self._occupied.discard(self._directory(unit))


COMPILE_STAGE = "compile"
"""The stage whose progress is announced."""

RENDERED, FROM_CACHE = "rendered", "from the cache"
"""The source of an instance's files."""

Nodes = Mapping[str, Mapping[str, Any]]
Ranking = Callable[[Unit], Rank]


class Schedule:
    """Offers tasks to the pool and processes their outcomes.

    Args:
        work: the runs and their inventories.
        rank: returns the sort key of an instance.
        announce: receives events.
        size: the number of computing tasks that run at the same time; fetches, and instances that mostly wait, are
            counted separately.
        reuses: the results of earlier runs, by the run's key.
    """

    def __init__(
        self,
        work: Sequence[tuple[BatchRun, Nodes]],
        rank: Ranking,
        announce: Announce,
        size: int,
        limits: Limits,
        reuses: Mapping[str, Reuse],
    ) -> None:
        self._runs = {run.key: run for run, _ in work}
        self._nodes = {run.key: nodes for run, nodes in work}
        self._announce = announce
        self._size = size
        self._limits = limits
        self._reuses = reuses
        self._computing = self._fetching = 0
        self._inspections = deque(
            InspectTask(run, name) for run, nodes in work for name in run.pending if _names_dependencies(nodes[name])
        )
        self._dependencies: list[_fetching.RunDependency] = []
        self._waves: deque[list[BatchRun]] | None = None
        self._begun = 0
        self._fetches: deque[FetchTask] = deque()
        self._missing: dict[Unit, set[Path]] = {}
        self._arrivals: dict[str, _fetching.PendingOutputs] = {}
        self._waited: set[Unit] = set()
        self._too_early: dict[Unit, frozenset[Path]] = {}
        self._outside: set[Unit] = set()
        self._inside: set[Unit] = set()
        self._ready = ReadyInstances(rank, self._waits, self._directory, _shared_and_written(work))
        self._errors: dict[Unit, list[CommodoreError]] = defaultdict(list)
        self._seconds: dict[Unit, float] = {}
        self._records: dict[Unit, Record] = {}

    def errors(self, run: BatchRun) -> list[CommodoreError]:
        """Return the errors of a run, in the order of its jobs."""
        return [error for name in run.jobs for error in self._errors.get((run.key, name), ())]

    def seconds(self, run: BatchRun) -> dict[str, float]:
        """Return the duration of each compiled instance of a run."""
        return {name: self._seconds[run.key, name] for name in run.jobs if (run.key, name) in self._seconds}

    def records(self, run: BatchRun) -> dict[str, Record]:
        """Return the record of each rendered instance, also of failed ones."""
        return {name: self._records[run.key, name] for name in run.pending if (run.key, name) in self._records}

    # For the pool

    def offer(self) -> Task | None:
        """Return the next task, or None while no task can start."""
        task = self._next()
        if task is not None:
            units = task.units if isinstance(task, FetchTask) else {(task.run.key, task.instance)}
            instances = {(str(self._runs[key].request.output), name) for key, name in units}
            self._announce(TaskBegun(*_identity(task), tuple(sorted(instances))))
        return task

    def _next(self) -> Task | None:
        while self._is_idle() and self._begin_wave():
            pass
        if self._fetches and self._fetching < self._limits.fetch_workers:
            self._fetching += 1
            return self._fetches.popleft()
        if self._size > 1 and len(self._outside) < self._limits.waiting_workers:
            unit = self._ready.pop_waiting()
            if unit is not None:
                self._outside.add(unit)
                return self._compile(unit)
        if self._computing >= self._size:
            return None
        if self._inspections:
            self._computing += 1
            return self._inspections.popleft()
        unit = self._next_to_compute()
        if unit is None:
            return None
        self._computing += 1
        return self._compile(unit)

    def _next_to_compute(self) -> Unit | None:
        """Choose the next instance: ones that mostly wait start early, but leave a place for others while there are
        some.
        """
        if len(self._inside) + 1 < self._size:
            unit = self._ready.pop()
        else:
            unit = self._ready.pop_computing() or self._ready.pop_waiting()
        if unit is not None and self._waits(unit):
            self._inside.add(unit)
        return unit

    def _compile(self, unit: Unit) -> CompileTask:
        self._too_early[unit] = frozenset(self._arrivals[unit[0]].ahead_of(unit[1]))
        return CompileTask(self._runs[unit[0]], unit[1])

    def done(self, task: Task, outcome: TaskOutcome, worker: int | None) -> None:
        """Process the outcome of a task. `worker` is the number of its worker, None if it has died."""
        if worker is not None:
            self._announce(_ended(task, outcome, worker))
        if isinstance(task, CompileTask) and self._is_too_early(task, outcome, worker):
            self._leave(task)
            self._await_again(task)
            return
        for note in outcome.notes:
            self._announce(Noted(note, level=1))
        for trace in trace_events(task.instance, outcome.traces):
            self._announce(trace)
        for warning in outcome.warnings:
            self._announce(warning)
        if isinstance(task, FetchTask):
            self._fetching -= 1
            self._fetched(task, outcome)
            return
        self._leave(task)
        unit = (task.run.key, task.instance)
        if outcome.record is not None:
            self._records[unit] = outcome.record
        if outcome.errors:
            self._errors[unit].extend(outcome.errors)
        elif isinstance(task, InspectTask):
            self._dependencies.extend((task.run, item) for item in outcome.dependencies)
        else:
            self._seconds[unit] = outcome.seconds
            source = f"{RENDERED}, with {', '.join(outcome.taken)} {FROM_CACHE}" if outcome.taken else RENDERED
            self._announce(StageAdvanced(COMPILE_STAGE, task.instance, outcome.seconds, source))
        if isinstance(task, CompileTask):
            self._arrive(task.run.workplace(task.instance))

    def _leave(self, task: InspectTask | CompileTask) -> None:
        """Free the place of a task."""
        unit = (task.run.key, task.instance)
        if unit in self._outside:
            self._outside.remove(unit)
        else:
            self._computing -= 1
            self._inside.discard(unit)
        if isinstance(task, CompileTask):
            self._ready.end(unit)

    # Waves: runs that fetch and compile at the same time

    def _is_idle(self) -> bool:
        return not (
            self._computing or self._outside or self._fetching or self._inspections or self._fetches or self._ready
        )

    def _begin_wave(self) -> bool:
        if self._waves is None:
            self._waves = deque(self._plan_waves())
        if not self._waves:
            return False
        wave = self._waves.popleft()
        keys = {run.key for run in wave}
        staging = wave[0].staging / "fetch" / str(self._begun)
        self._begun += 1
        dependencies = [
            (run, item)
            for run, item in self._dependencies
            if run.key in keys and self._is_sound((run.key, item.instance))
        ]
        tasks = _fetching.plan(dependencies, staging)
        self._fetches.extend(tasks)
        for run in wave:
            self._await_fetches(run, tasks)
        return True

    def _await_fetches(self, run: BatchRun, tasks: Sequence[FetchTask]) -> None:
        """Make each instance wait for the files it reads: its own dependencies, folders of its inputs, and files that
        it has read before.
        """
        sound = [name for name in run.pending if self._is_sound((run.key, name))]
        written = {name: self._reuses[run.key].written_places(run, name, self._nodes[run.key][name]) for name in sound}
        writers = {name: written[name] for name in run.jobs if written.get(name)}
        arrivals = self._arrivals[run.key] = _fetching.PendingOutputs(run, tasks, writers)
        named: dict[Unit, set[Path]] = defaultdict(set)
        for task in tasks:
            for unit in task.units:
                named[unit].add(task.place)
        for unit in [(run.key, name) for name in sound]:
            read = self._read_by(run, unit[1]) & arrivals.ahead_of(unit[1]) if arrivals.awaited else set()
            self._missing[unit] = named[unit] | read
            if self._missing[unit] or unit[1] in self._reuses[run.key].deferred:
                self._waited.add(unit)
        for name in sound:
            self._release((run.key, name))

    def _read_by(self, run: BatchRun, name: str) -> set[Path]:
        """Return the pending outputs that an instance is expected to read, before it is rendered."""
        arrivals, node = self._arrivals[run.key], self._nodes[run.key][name]
        record = read_record(run.request.root, name)
        if _reads_unseen(node) or (record is not None and record.unseen):
            return set(arrivals.awaited)
        candidate = self._reuses[run.key].candidates.get(name)
        keys = set(record.reads if record is not None else ()) | (candidate.keys if candidate is not None else set())
        read = places_read(keys, PortablePaths.of(run, name, installed()))
        return arrivals.read_by((*self._inputs(run, name), *read))

    def _is_too_early(self, task: CompileTask, outcome: TaskOutcome, worker: int | None) -> bool:
        """Check if an instance has read files that were fetched since it was started, or are still being fetched.

        The published tool fetches everything before it compiles. An instance that is not expected to read fetched files
        may start earlier; if it has read some after all, it is compiled again.
        """
        unit = (task.run.key, task.instance)
        missed = self._too_early.pop(unit)
        if not missed or worker is None:
            return False
        record = outcome.record
        if outcome.errors or record is None or record.unseen:
            return True
        read = places_read(record.digests, PortablePaths.of(task.run, task.instance, installed()))
        return not missed.isdisjoint(self._arrivals[task.run.key].read_by(read))

    def _await_again(self, task: CompileTask) -> None:
        """Make an instance that was started too early wait for all fetches."""
        unit = (task.run.key, task.instance)
        self._announce(
            Noted(f"instance {task.instance!r} is rendered again: it has read what was fetched meanwhile", level=1)
        )
        remove_tree(task.run.workplace(task.instance))
        self._waited.add(unit)
        self._missing[unit] = self._arrivals[unit[0]].ahead_of(unit[1])
        self._release(unit)

    def _plan_waves(self) -> list[list[BatchRun]]:
        """Sort the dependencies, as inspections end in random order; check them; and divide the runs into waves."""
        order = {(run.key, name): position for run in self._runs.values() for position, name in enumerate(run.pending)}
        self._dependencies.sort(key=lambda entry: (order[entry[0].key, entry[1].instance], entry[1].index))
        for run in self._runs.values():
            own = [item for other, item in self._dependencies if other is run]
            for instance, error in check_outputs(own, run):
                self._errors[run.key, instance].append(error)
        sound = [(run, item) for run, item in self._dependencies if self._is_sound((run.key, item.instance))]
        return _fetching.in_waves(list(self._runs.values()), sound)

    def _waits(self, unit: Unit) -> bool:
        return _runs_commands(self._nodes[unit[0]][unit[1]])

    def _directory(self, unit: Unit) -> Path:
        return self._runs[unit[0]].jobs[unit[1]].directory

    def _inputs(self, run: BatchRun, name: str) -> Iterator[Path]:
        yield run.jobs[name].directory
        for path in _input_paths(self._nodes[run.key][name]):
            for folder in run.request.search_paths:
                yield folder / path

    # After fetching

    def _fetched(self, task: FetchTask, outcome: TaskOutcome) -> None:
        for error in outcome.errors:
            self._fail(task.units, error, prefix=False)
        for failure in outcome.failures:
            self._fail(failure.units, failure.error, prefix=True)
        self._arrive(task.place)

    def _arrive(self, place: Path) -> None:
        """Release the instances that wait for a place: its files are complete, or will not be written."""
        for arrivals in self._arrivals.values():
            arrivals.awaited.discard(place)
        for unit, missing in list(self._missing.items()):
            if place in missing:
                missing.discard(place)
                self._release(unit)

    def _fail(self, units: frozenset[Unit], error: CommodoreError, *, prefix: bool) -> None:
        """Fail the instances that need a dependency; each run gets one error."""
        for run in self._runs.values():
            names = [name for name in run.pending if (run.key, name) in units]
            for name in names:
                self._errors.setdefault((run.key, name), [])
            if names:
                listed = ", ".join(map(repr, names))
                self._errors[run.key, names[0]].append(error.about(f"instance {listed}") if prefix else error)

    def _release(self, unit: Unit) -> None:
        if unit in self._missing and not self._missing[unit]:
            del self._missing[unit]
            run, name = self._runs[unit[0]], unit[1]
            if not self._is_sound(unit):
                self._arrive(run.workplace(name))
            elif unit in self._waited and self._reuses[run.key].look_again(run, self._nodes[run.key], name):
                self._announce(StageAdvanced(COMPILE_STAGE, name, source=FROM_CACHE))
                self._arrive(run.workplace(name))
            else:
                self._ready.push(unit)

    def _is_sound(self, unit: Unit) -> bool:
        return unit not in self._errors


def _identity(task: Task) -> tuple[str, str, str]:
    """Return kind, name and place of a task for events."""
    if isinstance(task, FetchTask):
        first = [group.items[0] for group in task.groups]
        names = [" ".join(filter(None, [redact(item.source), item.fields.get("chart_name")])) for item in first]
        return "fetch", ", ".join(dict.fromkeys(names)), str(task.place)
    return "compile" if isinstance(task, CompileTask) else "inspect", task.instance, str(task.run.request.output)


def _ended(task: Task, outcome: TaskOutcome, worker: int) -> TaskEnded:
    return TaskEnded(
        *_identity(task),
        worker,
        outcome.started,
        outcome.seconds,
        outcome.parts,
        failed=bool(outcome.errors),
        facts=outcome.facts(),
    )


def slowest_first(work: Sequence[tuple[BatchRun, Nodes]], durations: Mapping[Path, Mapping[str, float]]) -> Ranking:
    """Rank instances by their last duration. New ones come first, by the number of their inputs, and before them new
    ones that run commands, which may take long to fetch what they build.

    Args:
        durations: seconds by instance for each working directory.
    """
    ranks: dict[Unit, Rank] = {}
    for run, nodes in work:
        known = durations[run.request.root]
        for name in run.pending:
            if name in known:
                ranks[run.key, name] = (2, -known[name])
            else:
                size = len(list(_input_paths(nodes[name])))
                ranks[run.key, name] = (0 if _runs_commands(nodes[name]) else 1, -size)
    return lambda unit: ranks[unit]


def _runs_commands(node: Mapping[str, Any]) -> bool:
    """Check if an instance mostly waits, for a command that may fetch what it builds."""
    return any(entry.get("input_type") in ("external", "kustomize") for entry in _entries(node))


def _reads_unseen(node: Mapping[str, Any]) -> bool:
    """Check if an instance is known to read files that are not observed."""
    return any(
        entry.get("input_type") not in OBSERVED_INPUTS
        or (entry.get("input_type") == "external" and list(entry.get("input_paths") or ()) != [str(WRAPPER)])
        for entry in _entries(node)
    )


def _names_dependencies(node: Mapping[str, Any]) -> bool:
    kapitan = node["parameters"].get("kapitan")
    return isinstance(kapitan, Mapping) and bool(kapitan.get("dependencies"))


def _entries(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a node's compile entries. The node is not validated."""
    kapitan = node["parameters"].get("kapitan")
    entries = kapitan.get("compile") if isinstance(kapitan, Mapping) else None
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, Sequence) else []


def _input_paths(node: Mapping[str, Any]) -> Iterator[str]:
    for entry in _entries(node):
        paths = entry.get("input_paths")
        yield from map(str, paths if isinstance(paths, Sequence) else ())


def _shared_and_written(work: Sequence[tuple[BatchRun, Nodes]]) -> set[Path]:
    """Return the component directories of several instances that one of them may write to: by an output path outside of
    the instance's folder (input of kustomize is often generated like that), or by a command.
    """
    used: Counter[Path] = Counter()
    written = set()
    for run, nodes in work:
        for job in map(run.jobs.__getitem__, run.pending):
            used[job.directory] += 1
            for entry in _entries(nodes[job.name]):
                output = str(entry.get("output_path", ""))
                if entry.get("input_type") == "external" or output.startswith("/") or ".." in output:
                    written.add(job.directory)
    return {directory for directory in written if used[directory] > 1}
