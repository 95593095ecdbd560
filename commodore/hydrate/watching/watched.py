"""A watcher: groups that have failed, its wait, its state, and its pages: probes, metrics, requests to look at once."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from commodore.base.errors import CommodoreError
from commodore.core.serving import Reply, Routes, probe
from commodore.core.sources.git import repository_key
from commodore.hydrate.model import Group, Result
from commodore.hydrate.planning.groups import Planned
from commodore.hydrate.watching.metrics import Metrics

_FIRST_PAUSE, _LONGEST_PAUSE = 120.0, 1800.0  # seconds before a group that has failed is tried again
_INTERVALS = 3  # a loop that was not seen for so many is not alive
_URLS = ("clone_url", "git_http_url", "git_ssh_url", "ssh_url", "git_url", "html_url", "homepage", "url")
"""The keys under which push events of forges have the URL of their repository."""


class Wakeup:
    """Ends a wait, from a signal's handler or another thread."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)

    def wake(self) -> None:
        """End the wait that goes on, or the next one."""
        with suppress(BlockingIOError):  # it is called already
            os.write(self._writing, b"x")

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until it is called."""
        if select.select([self._reading], [], [], seconds)[0]:
            os.read(self._reading, 1 << 16)

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)


@dataclass
class Watched:
    """The state of a watcher: what the loop tells, and what is asked of it.

    Args:
        interval: seconds between two looks.
        clock: gives seconds that only grow.
        token: what requests for a look must have; empty to refuse them.
        wakeup: is called by those that are let in.

    Attributes:
        known: keys of the repositories that were hydrated from or to at the last look.
    """

    interval: float
    clock: Callable[[], float]
    token: str
    wakeup: Wakeup
    metrics: Metrics = field(default_factory=Metrics)
    known: frozenset[str] = frozenset()
    _seen: float | None = None
    _ready: bool = False
    _hard: bool = False

    def begin(self) -> bool:
        """Begin a look. Returns True if everything is to be rendered."""
        self._seen = self.clock()
        hard, self._hard = self._hard, False
        return hard

    def end(self, known: frozenset[str]) -> None:
        """End a look that went well."""
        self._seen, self.known, self._ready = self.clock(), known, True

    @property
    def is_alive(self) -> bool:
        return self._seen is not None and self.clock() - self._seen <= _INTERVALS * self.interval

    @property
    def is_ready(self) -> bool:
        return self._ready

    def pages(self) -> Routes:
        """The pages of the watcher."""
        shown = {
            "/healthz": lambda: probe(self.is_alive),
            "/readyz": lambda: probe(self.is_ready),
            "/metrics": lambda: Reply.metrics(self.metrics.text().encode()),
        }
        return Routes(shown, {"/hydrate": self.ask}, self.token)

    def ask(self, content: bytes) -> Reply:
        """Answer a request for a look.

        Args:
            content: empty, `{"repository": URL, "hard": true}`, or the push event of a forge. Only URLs of the
                repository are taken from it; what has changed there, git is asked.
        """
        try:
            data: Any = json.loads(content) if content.strip() else {}
        except ValueError:
            return Reply(400, b"the body is not JSON\n")
        if not isinstance(data, dict):
            return Reply(400, b"the body is not a JSON object\n")
        urls = list(_urls(data.get("repository")))
        if self._ready and urls and not self.known & set(_keys(urls)):
            return Reply(200, b"nothing is hydrated from this repository\n")
        self._hard = self._hard or data.get("hard") is True
        self.wakeup.wake()
        return Reply(202, b"looking\n")


def _urls(repository: Any) -> Iterator[str]:
    if isinstance(repository, str):
        yield repository
    elif isinstance(repository, Mapping):
        yield from (value for key in _URLS if isinstance(value := repository.get(key), str))


def _keys(urls: list[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield repository_key(url)
        except CommodoreError:
            continue


@dataclass
class Backoff:
    """Remembers which groups have failed, and when each is to be tried again: after two minutes, then twice as long
    each time, up to half an hour. A new dry commit is tried at once.

    Args:
        clock: gives seconds that only grow.
    """

    clock: Callable[[], float]
    _failed: dict[str, _Failure] = field(default_factory=dict)

    def is_ready(self, group: Group) -> bool:
        """Tell if a group may be tried now."""
        failure = self._failed.get(group.id)
        return failure is None or failure.dry_sha != group.dry_sha or failure.until <= self.clock()

    def learn(self, results: Iterable[tuple[Planned, Result]]) -> None:
        """Take in what became of groups. Those that are not among them are forgotten."""
        known, self._failed = self._failed, {}
        for planned, result in results:
            group, before = planned.group, known.get(planned.group.id)
            if isinstance(result, CommodoreError):
                again = before is not None and before.dry_sha == group.dry_sha
                pause = min(before.pause * 2, _LONGEST_PAUSE) if before is not None and again else _FIRST_PAUSE
                self._failed[group.id] = _Failure(group.dry_sha, pause, self.clock() + pause)
            elif before is not None and planned.decision == "waiting":
                self._failed[group.id] = before


@dataclass(frozen=True, slots=True)
class _Failure:
    dry_sha: str
    pause: float
    until: float
