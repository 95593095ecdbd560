"""Metrics of a watcher in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from commodore.base.events import Event, StageFinished

_BOUNDS = (0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)  # seconds
_GOOD = ("hydrated", "unaffected", "noted", "committed", "unchanged", "superseded")


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """The outcome of a group in a run of the watcher.

    Attributes:
        repository: the URL of the destination, without credentials.
        behind: the number of dry commits not hydrated yet; None if unknown.
        retries: pushes repeated because other pushes were faster.
    """

    repository: str
    branch: str
    outcome: str
    behind: int | None = None
    retries: int = 0


@dataclass
class Metrics:
    """The metrics of a watcher. The series of removed groups are dropped, so the size is bounded."""

    _seen: tuple[GroupStatus, ...] = ()
    _runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _retries: Counter[str] = field(default_factory=Counter)
    _good: dict[tuple[str, str], float] = field(default_factory=dict)
    _stages: dict[str, list[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def looked(self, seen: Iterable[GroupStatus], now: float) -> None:
        """Record a run.

        Args:
            now: seconds since 1970.
        """
        with self._lock:
            self._seen = tuple(seen)
            for item in self._seen:
                self._runs[item.repository, item.outcome] += 1
                self._retries[item.repository] += item.retries
                if item.outcome in _GOOD:
                    self._good[item.repository, item.branch] = now
            places = {(entry.repository, entry.branch) for entry in self._seen}
            repositories = {entry.repository for entry in self._seen}
            self._good = {place: at for place, at in self._good.items() if place in places}
            self._runs = Counter({key: number for key, number in self._runs.items() if key[0] in repositories})
            self._retries = Counter({key: number for key, number in self._retries.items() if key in repositories})

    def on_event(self, event: Event) -> None:
        """Record the duration of stages from an event of a run."""
        if isinstance(event, StageFinished):
            with self._lock:
                counts = self._stages.setdefault(event.stage, [0.0] * (len(_BOUNDS) + 2))
                for place, bound in enumerate(_BOUNDS):
                    counts[place] += event.seconds <= bound
                counts[-2] += 1
                counts[-1] += event.seconds

    def text(self) -> str:
        """Return all metrics in the text format of Prometheus."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        groups = Counter(entry.outcome for entry in self._seen)
        yield from _family("groups", "gauge", "Groups of the last run.")
        yield from (_sample("groups", number, outcome=name) for name, number in sorted(groups.items()))
        yield from _family("runs_total", "counter", "Runs of groups.")
        for (repository, outcome), number in sorted(self._runs.items()):
            yield _sample("runs_total", number, repository=repository, outcome=outcome)
        yield from _family("push_retries_total", "counter", "Pushes repeated because other pushes were faster.")
        for repository, number in sorted(self._retries.items()):
            yield _sample("push_retries_total", number, repository=repository)
        yield from _family("seconds", "histogram", "Duration of stages in seconds.")
        for stage, counts in sorted(self._stages.items()):
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=False):
                yield _sample("seconds_bucket", int(count), stage=stage, le=bound)
            yield _sample("seconds_count", int(counts[-2]), stage=stage)
            yield _sample("seconds_sum", counts[-1], stage=stage)
        yield from _family("behind_commits", "gauge", "Dry commits not hydrated yet.")
        behind: dict[tuple[str, str], int] = {}
        for item in self._seen:
            if item.behind is not None:
                place = (item.repository, item.branch)
                behind[place] = max(behind.get(place, 0), item.behind)
        for (repository, branch), number in sorted(behind.items()):
            yield _sample("behind_commits", number, repository=repository, branch=branch)
        yield from _family("last_success_timestamp_seconds", "gauge", "Time of the last successful run of a branch.")
        for (repository, branch), at in sorted(self._good.items()):
            yield _sample("last_success_timestamp_seconds", at, repository=repository, branch=branch)


def _family(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP commodore_hydrate_{name} {about}", f"# TYPE commodore_hydrate_{name} {kind}"


def _sample(name: str, value: float, **labels: str) -> str:
    shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"commodore_hydrate_{name}{{{shown}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
