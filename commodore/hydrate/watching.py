"""Hydrating again and again: when sources have moved, and after a while when a group has failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from commodore.base.errors import CommodoreError
from commodore.hydrate.model import Group, Result
from commodore.hydrate.planning.groups import Planned

_FIRST_PAUSE, _LONGEST_PAUSE = 120.0, 1800.0  # seconds before a group that has failed is tried again


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
