"""The state of a watcher: failed groups and their retries, its wait, and its HTTP pages (probes, metrics, webhook)."""

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
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.watching.metrics import Metrics

_FIRST_PAUSE, _LONGEST_PAUSE = 120.0, 1800.0  # seconds before the first retry of a failed group, and the maximum
_INTERVALS = 3  # a loop without a sign of life for so many is not alive
_URLS = ("clone_url", "git_http_url", "git_ssh_url", "ssh_url", "git_url", "html_url", "homepage", "url")
"""The keys under which push events of forges have the URL of their repository."""


class Wakeup:
    """Interrupt a wait from a signal handler or another thread."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)

    def wake(self) -> None:
        """End the current or the next wait."""
        with suppress(BlockingIOError):  # already pending
            os.write(self._writing, b"x")

    def wait(self, seconds: float) -> None:
        """Wait for some seconds, or until `wake` is called."""
        if select.select([self._reading], [], [], seconds)[0]:
            os.read(self._reading, 1 << 16)

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)


@dataclass
class WatchState:
    """The state of a watcher, shared by its loop and its HTTP pages.

    Args:
        interval: seconds between two runs.
        clock: returns monotonic seconds.
        token: the bearer token of requests for a run; empty to refuse them.
        wakeup: woken by accepted requests.

    Attributes:
        known: keys of the dry and destination repositories of the last run.
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
        """Begin a run. Returns True if everything must be rendered."""
        self._seen = self.clock()
        hard, self._hard = self._hard, False
        return hard

    def end(self, known: frozenset[str]) -> None:
        """Record the end of a successful run."""
        self._seen, self.known, self._ready = self.clock(), known, True

    @property
    def is_alive(self) -> bool:
        return self._seen is not None and self.clock() - self._seen <= _INTERVALS * self.interval

    @property
    def is_ready(self) -> bool:
        return self._ready

    def pages(self) -> Routes:
        """Return the HTTP pages of the watcher."""
        shown = {
            "/healthz": lambda: probe(self.is_alive),
            "/readyz": lambda: probe(self.is_ready),
            "/metrics": lambda: Reply.metrics(self.metrics.text().encode()),
        }
        return Routes(shown, {"/hydrate": self.ask}, self.token)

    def ask(self, content: bytes) -> Reply:
        """Answer a request for a run.

        Args:
            content: empty, `{"repository": URL, "hard": true}`, or the push event of a forge, of which only the URLs of
                the repository are used.
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
    """Track failed groups and the time of their next retry: after two minutes, doubled each time, up to half an hour.
    A new dry commit is tried at once.

    Args:
        clock: returns monotonic seconds.
    """

    clock: Callable[[], float]
    _failed: dict[str, _Failure] = field(default_factory=dict)

    def is_ready(self, group: Group) -> bool:
        """Return True if a group may be tried now."""
        failure = self._failed.get(group.id)
        return failure is None or failure.dry_sha != group.dry_sha or failure.until <= self.clock()

    def learn(self, results: Iterable[tuple[PlannedGroup, Result]]) -> None:
        """Record the results of groups. Absent groups are forgotten."""
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
