"""What the library announces while it works. The library never prints: a listener (terminal, JSON log, test) does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


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
class StageAdvanced(Event):
    """One item of a stage is done: a repository fetched, an instance compiled."""

    stage: str
    item: str
    seconds: float = 0.0


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


Announce = Callable[[Event], None]
"""How library functions are given a listener."""


def ignore(event: Event) -> None:
    """The listener that hears nothing."""


@contextmanager
def stage(announce: Announce, name: str, total: int | None = None) -> Iterator[None]:
    """Announce the start of a stage and, if it ends well, its end and duration."""
    start = time.perf_counter()
    announce(StageStarted(name, total))
    yield
    announce(StageFinished(name, time.perf_counter() - start))
