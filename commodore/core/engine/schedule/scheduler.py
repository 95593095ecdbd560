"""What is done when: the state of one call of `Engine.compile_batches`.

Instances are read first, as fetching has to know all dependencies to fetch each once. From then on an instance is
compiled as soon as what it needs is fetched, the slowest ones first, while others' dependencies are still on their way.
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
    """Seconds by instance, of former runs in a working directory. Nothing if there is no file, or a damaged one."""
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
    """Keep durations for the next run in a working directory; a folder that refuses the file does not matter."""
    rounded = {name: round(seconds, 3) for name, seconds in sorted(durations.items())}
    with contextlib.suppress(EnvironmentFault, PolicyError):
        write_atomically(_file(root), json.dumps(rounded, indent=0).encode() + b"\n", root=root)


def _file(root: Path) -> Path:
    return Workspace(root).state / "durations.json"


Rank = tuple[int, float]
"""How early an instance is compiled; the smallest is first."""


class ReadyInstances:
    """Two queues: instances that compute, and those that mostly wait for the programs that they start.

    Args:
        rank: when an instance is compiled among those that could be.
        waits: whether an instance mostly waits.
        directory: an instance's component directory.
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
        """An instance can be compiled."""
        heapq.heappush(self._queues[self._waits(unit)], (self._rank(unit), unit))

    def pop(self) -> Unit | None:
        """The first instance of both queues whose directory is free; None if there is none."""
        ranked = sorted((queue[0], waits) for waits, queue in self._queues.items() if queue)
        return next((unit for _, waits in ranked if (unit := self._pop(waits)) is not None), None)

    def pop_computing(self) -> Unit | None:
        """The same of those that compute."""
        return self._pop(False)

    def pop_waiting(self) -> Unit | None:
        """The same of those that mostly wait."""
        return self._pop(True)

    def _pop(self, waits: bool) -> Unit | None:
        queue = self._queues[waits]
        passed = []
        found = None
        while queue and found is None:
            entry = heapq.heappop(queue)
            directory = self._directory(entry[1])
            if directory in self._occupied:
                passed.append(entry)
                continue
            if directory in self._one_by_one:
                self._occupied.add(directory)
            found = entry[1]
        for entry in passed:
            heapq.heappush(queue, entry)
        return found

    def end(self, unit: Unit) -> None:
        """An instance is done; its directory is free again."""
        self._occupied.discard(self._directory(unit))


COMPILE_STAGE = "compile"
"""The stage whose progress is announced."""

RENDERED, KEPT = "rendered", "from the cache"
"""Where what an instance consists of came from."""

Nodes = Mapping[str, Mapping[str, Any]]
Ranking = Callable[[Unit], Rank]


class Schedule:
    """Offers tasks to the pool and takes what came of them.

    Args:
        work: the runs and their inventories.
        rank: when an instance is compiled among those that could be.
        announce: who listens.
        size: how many tasks that compute run at the same time; fetches, and instances that mostly wait, are counted
            apart.
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
        self._found: list[_fetching.Wanted] = []
        self._waves: deque[list[BatchRun]] | None = None
        self._begun = 0
        self._fetches: deque[FetchTask] = deque()
        self._missing: dict[Unit, set[Path]] = {}
        self._arrivals: dict[str, _fetching.Arrivals] = {}
        self._waited: set[Unit] = set()
        self._too_early: dict[Unit, frozenset[Path]] = {}
        self._outside: set[Unit] = set()
        self._inside: set[Unit] = set()
        self._ready = ReadyInstances(rank, self._waits, self._directory, _shared_and_written(work))
        self._errors: dict[Unit, list[CommodoreError]] = defaultdict(list)
        self._seconds: dict[Unit, float] = {}
        self._records: dict[Unit, Record] = {}

    def errors(self, run: BatchRun) -> list[CommodoreError]:
        """What went wrong in a run, in the order of its jobs."""
        return [error for name in run.jobs for error in self._errors.get((run.key, name), ())]

    def seconds(self, run: BatchRun) -> dict[str, float]:
        """How long each instance of a run that is compiled has taken."""
        return {name: self._seconds[run.key, name] for name in run.jobs if (run.key, name) in self._seconds}

    def records(self, run: BatchRun) -> dict[str, Record]:
        """What each instance that was rendered has read, also if that failed."""
        return {name: self._records[run.key, name] for name in run.pending if (run.key, name) in self._records}

    # For the pool

    def offer(self) -> Task | None:
        """The next task, or None as long as nothing can be done."""
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
        """Instances that mostly wait begin early, but leave a place for others as long as there are any."""
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
        """Take what a task came to, with the number of its worker, which has died if there is none."""
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
            self._found.extend((task.run, item) for item in outcome.dependencies)
        else:
            self._seconds[unit] = outcome.seconds
            source = f"{RENDERED}, with {', '.join(outcome.taken)} {KEPT}" if outcome.taken else RENDERED
            self._announce(StageAdvanced(COMPILE_STAGE, task.instance, outcome.seconds, source))
        if isinstance(task, CompileTask):
            self._arrive(task.run.workplace(task.instance))

    def _leave(self, task: InspectTask | CompileTask) -> None:
        """A task does not take a place any more."""
        unit = (task.run.key, task.instance)
        if unit in self._outside:
            self._outside.remove(unit)
        else:
            self._computing -= 1
            self._inside.discard(unit)
        if isinstance(task, CompileTask):
            self._ready.end(unit)

    # Waves: what is fetched and compiled at the same time

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
        wanted = [
            (run, item) for run, item in self._found if run.key in keys and self._is_sound((run.key, item.instance))
        ]
        tasks = _fetching.plan(wanted, staging)
        self._fetches.extend(tasks)
        for run in wave:
            self._await_fetches(run, tasks)
        return True

    def _await_fetches(self, run: BatchRun, tasks: Sequence[FetchTask]) -> None:
        """Let each instance wait for what it reads: because it says so, because its inputs lie there, or because it has
        read that before.
        """
        sound = [name for name in run.pending if self._is_sound((run.key, name))]
        written = {name: self._reuses[run.key].written_places(run, name, self._nodes[run.key][name]) for name in sound}
        writers = {name: written[name] for name in run.jobs if written.get(name)}
        arrivals = self._arrivals[run.key] = _fetching.Arrivals(run, tasks, writers)
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
        """What of that which is to come an instance will read, as far as that is known before it is rendered."""
        arrivals, node = self._arrivals[run.key], self._nodes[run.key][name]
        record = read_record(run.request.root, name)
        if _reads_unseen(node) or (record is not None and record.unseen):
            return set(arrivals.awaited)
        candidate = self._reuses[run.key].candidates.get(name)
        keys = set(record.reads if record is not None else ()) | (candidate.keys if candidate is not None else set())
        read = places_read(keys, PortablePaths.of(run, name, installed()))
        return arrivals.read_by((*self._inputs(run, name), *read))

    def _is_too_early(self, task: CompileTask, outcome: TaskOutcome, worker: int | None) -> bool:
        """Whether an instance has read what was fetched since it was begun, or still is. Everything has to be fetched
        before anything is compiled: who needs nothing of it may begin at once, and who turns out to need it, again.
        """
        unit = (task.run.key, task.instance)
        missed = self._too_early.pop(unit)
        if not missed or worker is None:
            return False
        record = outcome.record
        if outcome.errors or record is None or record.unseen:
            return True
        read = places_read(record.found, PortablePaths.of(task.run, task.instance, installed()))
        return not missed.isdisjoint(self._arrivals[task.run.key].read_by(read))

    def _await_again(self, task: CompileTask) -> None:
        """Let an instance that was too early wait for everything."""
        unit = (task.run.key, task.instance)
        self._announce(
            Noted(f"instance {task.instance!r} is rendered again: it has read what was fetched meanwhile", level=1)
        )
        remove_tree(task.run.workplace(task.instance))
        self._waited.add(unit)
        self._missing[unit] = self._arrivals[unit[0]].ahead_of(unit[1])
        self._release(unit)

    def _plan_waves(self) -> list[list[BatchRun]]:
        """The order in which inspections end is chance: sort what they have found, and refuse what must not be."""
        order = {(run.key, name): position for run in self._runs.values() for position, name in enumerate(run.pending)}
        self._found.sort(key=lambda wanted: (order[wanted[0].key, wanted[1].instance], wanted[1].index))
        for run in self._runs.values():
            own = [item for other, item in self._found if other is run]
            for instance, error in check_outputs(own, run):
                self._errors[run.key, instance].append(error)
        sound = [(run, item) for run, item in self._found if self._is_sound((run.key, item.instance))]
        return _fetching.in_waves(list(self._runs.values()), sound)

    def _waits(self, unit: Unit) -> bool:
        return _runs_commands(self._nodes[unit[0]][unit[1]])

    def _directory(self, unit: Unit) -> Path:
        return self._runs[unit[0]].jobs[unit[1]].directory

    def _inputs(self, run: BatchRun, name: str) -> Iterator[Path]:
        yield run.jobs[name].directory
        for wanted in _input_paths(self._nodes[run.key][name]):
            for folder in run.request.search_paths:
                yield folder / wanted

    # After fetching

    def _fetched(self, task: FetchTask, outcome: TaskOutcome) -> None:
        for error in outcome.errors:
            self._fail(task.units, error, prefix=False)
        for failure in outcome.failures:
            self._fail(failure.units, failure.error, prefix=True)
        self._arrive(task.place)

    def _arrive(self, place: Path) -> None:
        """What was put into places that others may read is there, or will not come."""
        for arrivals in self._arrivals.values():
            arrivals.awaited.discard(place)
        for unit, missing in list(self._missing.items()):
            if place in missing:
                missing.discard(place)
                self._release(unit)

    def _fail(self, units: frozenset[Unit], error: CommodoreError, *, prefix: bool) -> None:
        """Let the instances that need a dependency fail; each run is notified once."""
        for run in self._runs.values():
            names = [name for name in run.pending if (run.key, name) in units]
            for name in names:
                self._errors.setdefault((run.key, name), [])
            if names:
                told = ", ".join(map(repr, names))
                self._errors[run.key, names[0]].append(error.about(f"instance {told}") if prefix else error)

    def _release(self, unit: Unit) -> None:
        if unit in self._missing and not self._missing[unit]:
            del self._missing[unit]
            run, name = self._runs[unit[0]], unit[1]
            if not self._is_sound(unit):
                self._arrive(run.workplace(name))
            elif unit in self._waited and self._reuses[run.key].look_again(run, self._nodes[run.key], name):
                self._announce(StageAdvanced(COMPILE_STAGE, name, source=KEPT))
                self._arrive(run.workplace(name))
            else:
                self._ready.push(unit)

    def _is_sound(self, unit: Unit) -> bool:
        return unit not in self._errors


def _identity(task: Task) -> tuple[str, str, str]:
    """What a task is in the events about it."""
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
    """Ranks instances by the time they took the last time. New ones come first, by how much there is to compile, and
    before them those that run commands, which may take a while to fetch what they build.

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
    """Whether an instance mostly waits, for a command that may fetch what it builds."""
    return any(entry.get("input_type") in ("external", "kustomize") for entry in _entries(node))


def _reads_unseen(node: Mapping[str, Any]) -> bool:
    """Whether an instance is known to read files without telling which."""
    return any(
        entry.get("input_type") not in OBSERVED_INPUTS
        or (entry.get("input_type") == "external" and list(entry.get("input_paths") or ()) != [str(WRAPPER)])
        for entry in _entries(node)
    )


def _names_dependencies(node: Mapping[str, Any]) -> bool:
    kapitan = node["parameters"].get("kapitan")
    return isinstance(kapitan, Mapping) and bool(kapitan.get("dependencies"))


def _entries(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A node's compile entries. The node is not validated."""
    kapitan = node["parameters"].get("kapitan")
    entries = kapitan.get("compile") if isinstance(kapitan, Mapping) else None
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, Sequence) else []


def _input_paths(node: Mapping[str, Any]) -> Iterator[str]:
    for entry in _entries(node):
        paths = entry.get("input_paths")
        yield from map(str, paths if isinstance(paths, Sequence) else ())


def _shared_and_written(work: Sequence[tuple[BatchRun, Nodes]]) -> set[Path]:
    """The component directories of several instances that one of them may write to: by an output path that leaves the
    instance's folder (what kustomize reads is often generated like that), or by a command.
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
