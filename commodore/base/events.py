"""What the library announces while it works. The library never prints: a listener (terminal, JSON log, test) does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """Base of everything that is announced."""


@dataclass(frozen=True, slots=True)
class StageStarted(Event):
    """A stage of the walk begins. `total` is its number of items when that is known."""

    stage: str
    total: int | None = None


@dataclass(frozen=True, slots=True)
class StageFinished(Event):
    """A stage of the walk has ended well, after `seconds` of wall time."""

    stage: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StageGrown(Event):
    """A stage is found to have so many more items. They are in no `total` of `StageStarted`."""

    stage: str
    items: int


@dataclass(frozen=True, slots=True)
class StageAdvanced(Event):
    """One item of a stage is done: a repository fetched, an instance compiled.

    `source` says where it came from, such as `rendered` or `from the cache`; it is empty where there is one way only.
    """

    stage: str
    item: str
    seconds: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Obtained(Event):
    """What an Application needs was obtained: a repository at a revision, a chart, a file, the output of a program.

    Args:
        what: its URL, without credentials, or what it is.
        wanted: the revision or version that is asked for; empty for none.
        found: the commit, version or digest that this is; empty if it is not known.
        way: `map` (`--repo-map`), `tree` (the one under analysis), `local` (its local repository), `caller` (the
            calling program), `cache`, `fetched` or `rendered`.
    """

    what: str
    wanted: str
    found: str
    way: str


@dataclass(frozen=True, slots=True)
class TaskBegun(Event):
    """A task was handed to a worker process. With `TaskEnded` it is there for traces of a run only.

    Args:
        task: `inspect` (read an instance's dependencies), `fetch` (dependencies) or `compile`.
        item: the instance; the sources of a fetch.
        place: the folder that the instance's output is for, or that a fetch downloads to. No two tasks have `task`,
            `item` and `place` in common.
        instances: those that the task is for, with the folders that their output is for: place and name.
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
        started: when it was begun, on the clock of `time.perf_counter`, which is one for all processes of a machine.
        seconds: how long it took.
        parts: what it consisted of, one after another: name and seconds.
        failed: whether there were errors.
        facts: what else is known about it: name and value.
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
    """Something a user should look at, though the run goes on."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """Something worth saying. `level` 0 is said always (unless quiet), 1 in debug (-v), 3 in trace (-vvv)."""

    message: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Traced(Event):
    """What the author of a component has a user told by `std.trace`, such as that a parameter is deprecated.

    Args:
        place: file and line of the call, relative to the working directory if it lies there.
    """

    instance: str
    message: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class PageToVisit(Event):
    """A page that a person must visit before the run can go on. It is shown even if quiet.

    `code` is to be entered there, if it is not empty; `opened` says that a browser was started already.
    """

    url: str
    code: str = ""
    opened: bool = False


@dataclass(frozen=True, slots=True)
class InCluster(Event):
    """What one of several clusters announces."""

    cluster: str
    event: Event


@dataclass(frozen=True, slots=True)
class WaveBegun(Event):
    """The clusters of a wave are compiled from now on.

    Args:
        total: counts those that are not done yet.
        expected: seconds that these took the last time, done as many at once as now; 0 if one of them is new.
    """

    wave: str
    total: int
    expected: float = 0.0


@dataclass(frozen=True, slots=True)
class WaveEnded(Event):
    """A wave is over. `state` is as in the report of a fleet."""

    wave: str
    state: str


@dataclass(frozen=True, slots=True)
class ClusterBegun(Event):
    """A cluster of a fleet is compiled, or published if `publishing`."""

    cluster: str
    wave: str
    publishing: bool = False


@dataclass(frozen=True, slots=True)
class ClusterEnded(Event):
    """A cluster of a fleet was compiled or published.

    Args:
        state: as in the report of a fleet.
        detail: what changed, or why it has failed, in a few words.
        code: of the error, if it has failed.
    """

    cluster: str
    wave: str
    state: str
    seconds: float
    detail: str = ""
    code: str = ""


def as_record(event: Event) -> dict[str, Any]:
    """An event as JSON-ready data; what a cluster announces, with the key `cluster`."""
    if isinstance(event, InCluster):
        return {**as_record(event.event), "cluster": event.cluster}
    return {"event": type(event).__name__, **asdict(event)}


Announce = Callable[[Event], None]
"""How library functions are given a listener."""


def ignore(event: Event) -> None:
    """The listener that does nothing."""


@contextmanager
def stage(announce: Announce, name: str, total: int | None = None) -> Iterator[None]:
    """Announce the start of a stage and, if it ends well, its end and duration."""
    start = time.perf_counter()
    announce(StageStarted(name, total))
    yield
    announce(StageFinished(name, time.perf_counter() - start))
