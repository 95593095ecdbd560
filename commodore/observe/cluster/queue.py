"""A work queue: each key once, optionally delayed, and never processed twice at the same time."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

_FIRST = 1.0
_LONGEST = 300.0

Key = TypeVar("Key")


class WorkQueue(Generic[Key]):
    """Keys with due times. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._due: dict[Key, float] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._number = 0
        self._running: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._woken = asyncio.Event()

    def __len__(self) -> int:
        return len(self._due)

    def add(self, key: Key, delay: float = 0.0) -> None:
        """Add a key with a delay in seconds; an earlier due time is kept."""
        due = self._clock() + delay
        if self._due.get(key, due + 1) <= due:
            return
        self._due[key] = due
        self._number += 1
        heapq.heappush(self._heap, (due, self._number, key))
        self._woken.set()

    async def get(self) -> Key:
        """Wait for the next due key; it is not returned again before `done`."""
        while True:
            key = self._take()
            if key is not None:
                return key[0]
            self._woken.clear()
            # No wait_for: before Python 3.12 it loses a cancellation that coincides with the result.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._rest()):
                    await self._woken.wait()

    def done(self, key: Key, *, failed: bool = False) -> None:
        """Finish a key. A failed one is added again with a growing delay."""
        self._running.discard(key)
        if failed:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            self.add(key, min(_FIRST * 2 ** (failures - 1), _LONGEST))
        else:
            self._failures.pop(key, None)
        self._woken.set()

    def forget(self, key: Key) -> None:
        """Remove a key."""
        self._due.pop(key, None)
        self._failures.pop(key, None)

    def _take(self) -> tuple[Key] | None:
        """Return the first due key that is not running, as a tuple; replaced entries are dropped."""
        kept = []
        first: tuple[Key] | None = None
        while self._heap and self._heap[0][0] <= self._clock():
            entry = heapq.heappop(self._heap)
            due, _, key = entry
            if self._due.get(key) != due:
                continue
            if key in self._running:
                kept.append(entry)
                continue
            del self._due[key]
            self._running.add(key)
            first = (key,)
            break
        for entry in kept:
            heapq.heappush(self._heap, entry)
        return first

    def _rest(self) -> float | None:
        waiting = [due for due, _, key in self._heap if key not in self._running and self._due.get(key) == due]
        return max(min(waiting) - self._clock(), 0.001) if waiting else None
