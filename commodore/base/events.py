"""Events of the library. It never prints: a listener (terminal, JSON log, test) does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """Base class of events."""


@dataclass(frozen=True, slots=True)
class StageStarted(Event):
    """A stage begins. `total` is its number of items if known."""

    stage: str
    total: int | None = None


@dataclass(frozen=True, slots=True)
class StageFinished(Event):
    """A stage has succeeded, after `seconds` of wall time."""

    stage: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StageGrown(Event):
    """A stage gets further items, which are not in the `total` of `StageStarted`."""

    stage: str
    items: int


@dataclass(frozen=True, slots=True)
class StageAdvanced(Event):
    """An item of a stage is done: a repository fetched, an instance compiled.

    `source` is the origin of the result, such as `rendered` or `from the cache`; empty if there is only one.
    """

    stage: str
    item: str
    seconds: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Obtained(Event):
    """An input of an Application was obtained: a repository at a revision, a chart, a file, the output of a program.

    Args:
        what: its URL, without credentials, or a description.
        wanted: the requested revision or version; empty for none.
        found: the resolved commit, version or digest; empty if unknown.
        way: `map` (`--repo-map`), `tree` (the one under analysis), `local` (its local repository), `caller` (the
            calling program), `cache`, `fetched` or `rendered`.
    """

    what: str
    wanted: str
    found: str
    way: str


@dataclass(frozen=True, slots=True)
class TaskBegun(Event):
    """A task was sent to a worker process. Like `TaskEnded` it is for traces of a run only.

    Args:
        task: `inspect` (read an instance's dependencies), `fetch` (dependencies) or `compile`.
        item: the instance; the sources of a fetch.
        place: the output folder of the instance, or the target folder of a fetch. `task`, `item` and `place` identify a
            task.
        instances: the instances that need the task: output folder and name.
    """

    task: str
    item: str
    place: str
    instances: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TaskEnded(Event):
    """A task of a worker process has ended.

    Args:
        task: as in `TaskBegun`, like `item` and `place`.
        worker: the worker's number; workers count from 0.
        started: the start on the clock of `time.perf_counter`, which all processes of a machine share.
        seconds: the duration.
        parts: its consecutive parts: name and seconds.
        failed: true if there were errors.
        facts: further facts: name and value.
    """

    task: str
    item: str
    place: str
    worker: int
    started: float
    seconds: float
    parts: tuple[tuple[str, float], ...] = ()
    failed: bool = False
    facts: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True, slots=True)
class Warned(Event):
    """A problem that does not stop the run."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A note. `level` 0 is always shown (unless quiet), 1 with debug (-v), 3 with trace (-vvv)."""

    message: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Traced(Event):
    """A message of a component's author by `std.trace`, such as about a deprecated parameter.

    Args:
        place: file and line of the call, relative to the working directory if it lies there.
    """

    instance: str
    message: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class PageToVisit(Event):
    """A page that the user must visit before the run can continue. It is shown even if quiet.

    `code` has to be entered there unless it is empty; `opened` is true if a browser was started.
    """

    url: str
    code: str = ""
    opened: bool = False


@dataclass(frozen=True, slots=True)
class InCluster(Event):
    """An event of one of several clusters."""

    cluster: str
    event: Event


@dataclass(frozen=True, slots=True)
class WaveBegun(Event):
    """The compilation of a wave's clusters begins.

    Args:
        total: the number of clusters that are not done yet.
        expected: their last duration in seconds with the same parallelism; 0 if one of them is new.
    """

    wave: str
    total: int
    expected: float = 0.0


@dataclass(frozen=True, slots=True)
class WaveEnded(Event):
    """A wave has ended. `state` is as in the report of a fleet."""

    wave: str
    state: str


@dataclass(frozen=True, slots=True)
class ClusterBegun(Event):
    """The compilation of a fleet's cluster begins, or its publication if `publishing`."""

    cluster: str
    wave: str
    publishing: bool = False


@dataclass(frozen=True, slots=True)
class ClusterEnded(Event):
    """A cluster of a fleet was compiled or published.

    Args:
        state: as in the report of a fleet.
        detail: a short description of the change or the failure.
        code: the error's code, if it has failed.
    """

    cluster: str
    wave: str
    state: str
    seconds: float
    detail: str = ""
    code: str = ""


def as_record(event: Event) -> dict[str, Any]:
    """Convert an event to JSON-ready data; events of a cluster get the key `cluster`."""
    if isinstance(event, InCluster):
        return {**as_record(event.event), "cluster": event.cluster}
    return {"event": type(event).__name__, **asdict(event)}


Announce = Callable[[Event], None]
"""The type of listeners."""


def ignore(event: Event) -> None:
    """Ignore an event."""


@contextmanager
def stage(announce: Announce, name: str, total: int | None = None) -> Iterator[None]:
    """Announce the start of a stage and, if it ends well, its end and duration."""
    start = time.perf_counter()
    announce(StageStarted(name, total))
    yield
    announce(StageFinished(name, time.perf_counter() - start))
