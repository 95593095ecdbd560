"""The instances that could be compiled now, in the order in which they should be."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Set
from pathlib import Path

from commodore.engine._tasks import Unit

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
