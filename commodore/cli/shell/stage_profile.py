"""Profiles of runs: a listener that records events with their times, and reports made from them.

The trace is in the format of Chrome's trace viewer, which Perfetto reads too ("Trace Event Format", JSON object form):
complete events (`ph` X) with times in microseconds since the beginning of the run. Process 1 is commodore itself: its
stages, and below them what they report about single items, such as repositories that were fetched. Of a fleet, each
thread that works on clusters has a track, on which the stages of a cluster lie within the cluster. Process 2 stands for
the workers, with one thread for each.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from commodore.base.events import (
    ClusterBegun,
    ClusterEnded,
    Event,
    InCluster,
    StageAdvanced,
    StageFinished,
    StageStarted,
    TaskBegun,
    TaskEnded,
)

_MAIN, _WORKERS = 1, 2
_PROCESSES = {_MAIN: "commodore", _WORKERS: "workers"}
_STAGES = "stages"
_HEARD = (StageStarted, StageAdvanced, StageFinished, TaskBegun, TaskEnded, ClusterBegun, ClusterEnded)

TaskName = tuple[str, str, str]
_Name = tuple[str, str]
"""The kind and the name of a span."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of work on a track, which is shown as one line; spans of a track follow or contain each other.

    Args:
        process: the group of tracks, 1 or 2 (see the module).
        start: seconds on the clock of `time.perf_counter`, like `end`.
        facts: what else is known about it.
    """

    process: int
    track: str
    name: str
    kind: str
    start: float
    end: float
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InstanceTime:
    """The duration of an instance in seconds.

    Args:
        instance: its name.
        place: the folder that its output was for.
        total: all of it.
        fetch: tasks that fetched dependencies of it; one that is shared counts for each instance.
        render: Kapitan's inputs.
        filter: postprocessing. What is missing from the total is what lies between, and keeping the result.
    """

    instance: str
    place: str
    total: float
    fetch: float
    render: float
    filter: float


@dataclass(frozen=True, slots=True)
class _Received:
    """An event, when it came, the thread that announced it, and the cluster of a fleet that it is about, if any."""

    event: Event
    when: float
    thread: str
    cluster: str = ""


class Profile:
    """Remembers what is announced while a run goes on; any thread may announce. `title` names the run.

    `end` ends it; what has not ended by then is marked `unfinished` in the trace.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._start = time.perf_counter()
        self._end: float | None = None
        self._heard: list[_Received] = []

    def announce(self, event: Event) -> None:
        """Listen to an event."""
        cluster = event.cluster if isinstance(event, InCluster) else ""
        event = event.event if isinstance(event, InCluster) else event
        if isinstance(event, _HEARD):
            thread = threading.current_thread()
            name = _STAGES if thread is threading.main_thread() else thread.name
            self._heard.append(_Received(event, time.perf_counter(), name, cluster))

    def end(self) -> None:
        """The run is over."""
        self._end = time.perf_counter()

    def spans(self) -> tuple[Span, ...]:
        """Everything that took time, in the order in which it began; longer spans come before those within them."""
        end = self._end or time.perf_counter()
        spans = [Span(_MAIN, _STAGES, self._title, "run", self._start, end)]
        spans += _stages(self._heard, end)
        spans += _tasks(self._heard, end)
        spans += _items(self._heard)
        return tuple(sorted(spans, key=lambda span: (span.start, -span.end)))

    def trace(self) -> bytes:
        """The trace as JSON."""
        spans = self.spans()
        used = sorted({(span.process, span.track) for span in spans}, key=_place)
        tracks = {track: number for number, track in enumerate(used, start=1)}
        events = [*_names(tracks), *(self._complete(span, tracks[span.process, span.track]) for span in spans)]
        return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, ensure_ascii=False).encode() + b"\n"

    def instances(self) -> tuple[InstanceTime, ...]:
        """The time of each instance that was compiled, the slowest first."""
        fetches: dict[tuple[str, str], float] = defaultdict(float)
        begun = {_identity(item.event): item.event for item in self._heard if isinstance(item.event, TaskBegun)}
        ended = [item.event for item in self._heard if isinstance(item.event, TaskEnded)]
        for event in ended:
            for instance in begun[_identity(event)].instances if event.task == "fetch" else ():
                fetches[instance] += event.seconds
        instances = [
            _instance_time(event, fetches[event.place, event.item]) for event in ended if event.task == "compile"
        ]
        return tuple(sorted(instances, key=lambda item: (-item.total, item.instance, item.place)))

    def reused(self) -> int:
        """The number of instances with reused results of an earlier run."""
        told = [item.event for item in self._heard if isinstance(item.event, StageAdvanced)]
        rendered = [
            item.event for item in self._heard if isinstance(item.event, TaskEnded) and item.event.task == "compile"
        ]
        return sum(event.stage == "compile" for event in told) - sum(not event.failed for event in rendered)

    def _complete(self, span: Span, thread: int) -> dict[str, Any]:
        start, end = self._microseconds(span.start), self._microseconds(span.end)
        return {
            "ph": "X",
            "name": span.name,
            "cat": span.kind,
            "pid": span.process,
            "tid": thread,
            "ts": start,
            "dur": end - start,
            "args": span.facts,
        }

    def _microseconds(self, moment: float) -> int:
        """Both ends of a span are rounded alike, so that what lies within another one still does."""
        return max(0, round((moment - self._start) * 1e6))


def _instance_time(event: TaskEnded, fetch: float) -> InstanceTime:
    parts = dict(event.parts)
    return InstanceTime(
        event.item,
        event.place,
        fetch + event.seconds,
        fetch,
        parts.get("render", 0.0),
        parts.get("filter", 0.0),
    )


def _identity(event: TaskBegun | TaskEnded) -> TaskName:
    return event.task, event.item, event.place


def _stages(collected: Iterable[_Received], end: float) -> Iterator[Span]:
    """The stages of each thread, and the clusters that they are of. A failed stage has no
    end event: it ends with its parent. Work of other threads for a cluster is on parallel tracks.
    """
    running: dict[tuple[str, str], list[tuple[_Name, float]]] = defaultdict(list)
    parallel: list[Span] = []
    for item in collected:
        own = running[item.thread, ""]
        is_own = not item.cluster or ("cluster", item.cluster) in (what for what, _ in own)
        stack = own if is_own else running[item.thread, item.cluster]
        done: list[Span] = []
        if begins := _begins(item.event):
            stack.append((begins, item.when))
        elif (ends := _ends(item.event)) and ends in (what for what, _ in stack):
            while (begun := stack.pop())[0] != ends:
                done.append(_unfinished(_MAIN, item.thread, begun[0][1], begun[1], begun[0][0], item.when))
            done.append(Span(_MAIN, item.thread, ends[1], ends[0], begun[1], item.when))
        if is_own:
            yield from done
        else:
            parallel += done
    for (thread, cluster), stack in running.items():
        left = [_unfinished(_MAIN, thread, name, start, kind, end) for (kind, name), start in stack]
        if cluster:
            parallel += left
        else:
            yield from left
    yield from _side_by_side("parallel", parallel)


def _begins(event: Event) -> _Name | None:
    """Return the name of the work that an event begins."""
    match event:
        case StageStarted(stage):
            return "stage", stage
        case ClusterBegun(cluster):
            return "cluster", cluster
    return None


def _ends(event: Event) -> _Name | None:
    """Return the name of the work that an event ends."""
    match event:
        case StageFinished(stage):
            return "stage", stage
        case ClusterEnded(cluster):
            return "cluster", cluster
    return None


def _tasks(collected: Iterable[_Received], end: float) -> Iterator[Span]:
    """Yield the spans of workers, including unfinished ones at the end of the run."""
    running: dict[TaskName, tuple[TaskBegun, float]] = {}
    for item in collected:
        if isinstance(item.event, TaskBegun):
            running[_identity(item.event)] = item.event, item.when
        elif isinstance(item.event, TaskEnded):
            begun, _ = running.pop(_identity(item.event))
            instances = sorted({name for _, name in begun.instances})
            yield from _task(item.event, {"instances": instances, "folder": begun.place})
    lost = [_unfinished(_WORKERS, "", task.item, start, task.task, end) for task, start in running.values()]
    yield from _side_by_side("unfinished", lost)


def _task(event: TaskEnded, facts: dict[str, Any]) -> Iterator[Span]:
    track, end = f"worker {event.worker}", event.started + event.seconds
    facts |= dict(event.facts)
    if event.failed:
        facts["failed"] = True
    yield Span(_WORKERS, track, event.item, event.task, event.started, end, facts)
    start = max(event.started, end - sum(seconds for _, seconds in event.parts))
    for name, seconds in event.parts:
        yield Span(_WORKERS, track, name, "part", start, min(end, start + seconds))
        start += seconds


def _items(collected: Iterable[_Received]) -> Iterator[Span]:
    """Items of stages that no worker has done, such as repositories that were fetched by threads."""
    told = {
        entry.event.item for entry in collected if isinstance(entry.event, TaskEnded) and entry.event.task == "compile"
    }
    by_stage: dict[str, list[Span]] = defaultdict(list)
    for item in collected:
        if isinstance(item.event, StageAdvanced) and item.event.seconds > 0 and item.event.item not in told:
            span = Span(_MAIN, "", item.event.item, item.event.stage, item.when - item.event.seconds, item.when)
            by_stage[item.event.stage].append(span)
    for name in sorted(by_stage):
        yield from _side_by_side(name, by_stage[name])


def _side_by_side(name: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans on as many tracks as it takes to let none overlap."""
    free: list[float] = []
    for span in sorted(spans, key=lambda item: item.start):
        number = next((index for index, end in enumerate(free) if end <= span.start), len(free))
        free[number : number + 1] = [span.end]
        yield Span(span.process, f"{name} {number}", span.name, span.kind, span.start, span.end, span.facts)


def _unfinished(process: int, track: str, name: str, start: float, kind: str, end: float) -> Span:
    return Span(process, track, name, kind, start, end, {"unfinished": True})


def _place(track: tuple[int, str]) -> tuple[int, bool, str, int]:
    """Return the sort key of a track: stages first, workers by number."""
    process, name = track
    words, _, number = name.rpartition(" ")
    return process, name != _STAGES, words, int(number) if number.isdecimal() else 0


def _names(tracks: dict[tuple[int, str], int]) -> Iterator[dict[str, Any]]:
    """Events that name processes and threads, and say in which order they are shown."""
    for process in sorted({process for process, _ in tracks}):
        yield _metadata("process_name", process, 0, name=_PROCESSES[process])
    for (process, track), thread in tracks.items():
        yield _metadata("thread_name", process, thread, name=track)
        yield _metadata("thread_sort_index", process, thread, sort_index=thread)


def _metadata(kind: str, process: int, thread: int, **facts: Any) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": facts}
