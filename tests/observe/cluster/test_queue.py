"""The queue: each key once, later, and not twice at a time. The clock is the test's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from commodore.observe.cluster.queue import WorkQueue


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


Due = Callable[[WorkQueue[str]], list[str]]


@pytest.fixture
def due(loop: asyncio.Runner) -> Due:
    """The keys that are given out now."""
    return lambda queue: loop.run(_due(queue))


async def _due(queue: WorkQueue[str]) -> list[str]:
    results = []
    while True:
        try:
            results.append(await asyncio.wait_for(queue.get(), 0.01))
        except TimeoutError:
            return results


def test_keys_are_given_once_in_the_order_of_their_time(due: Due) -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add("late", 5)
    queue.add("a")
    queue.add("b")
    queue.add("a")
    assert due(queue) == ["a", "b"]
    clock.now = 5
    assert due(queue) == ["late"]
    assert len(queue) == 0


def test_the_earlier_time_counts(due: Due) -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add("a", 60)
    queue.add("a", 1)
    queue.add("a", 60)
    clock.now = 1
    assert due(queue) == ["a"]
    queue.done("a")
    clock.now = 100
    assert due(queue) == []


def test_a_key_that_runs_waits_for_its_end(due: Due) -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.add("a")
    assert due(queue) == ["a"]
    queue.add("a")
    assert due(queue) == []
    queue.done("a")
    assert due(queue) == ["a"]


def test_failures_make_pauses_grow_and_success_ends_that(due: Due) -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add("a")
    for pause in (1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300):
        assert due(queue) == ["a"]
        queue.done("a", failed=True)
        clock.now += pause - 0.5
        assert due(queue) == []
        clock.now += 0.5
    assert due(queue) == ["a"]
    queue.done("a")
    queue.add("a")
    assert due(queue) == ["a"]
    queue.done("a", failed=True)
    clock.now += 1
    assert due(queue) == ["a"]


def test_what_is_forgotten_is_not_given(due: Due) -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.add("a")
    queue.forget("a")
    assert due(queue) == []


@pytest.mark.parametrize("turns", range(4))
def test_a_worker_that_is_cancelled_as_it_is_woken_ends(loop: asyncio.Runner, turns: int) -> None:
    """Otherwise the program would not end on request."""

    async def work() -> None:
        queue = WorkQueue[str](Clock())
        queue.add("later", 7200)

        async def worker() -> None:
            while True:
                queue.done(await queue.get())

        task = asyncio.create_task(worker())
        for _ in range(3):
            await asyncio.sleep(0)
        queue.add("later", 3600)
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=5)
        task.cancel()
        assert done

    loop.run(work())
