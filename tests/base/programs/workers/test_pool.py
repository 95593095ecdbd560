"""Workers that are started, renewed, killed, and asked for by several threads; the server that starts them."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.programs.workers import WorkerPool
from commodore.core.engine.model import CompileRequest
from commodore.core.engine.tasks import BatchRun, InspectTask, Task, TaskOutcome
from commodore.core.engine.worker.pool import worker_pool

pytestmark = pytest.mark.tools

Pool = WorkerPool[Task, TaskOutcome]
ROUNDS = int(os.environ.get("COMMODORE_TEST_RENEWALS", "500")) // 10


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = worker_pool("tests.base.programs.workers.counting_worker")
    yield pool
    pool.close()


def run_of(tmp_path: Path, key: str = "one") -> BatchRun:
    request = CompileRequest(root=tmp_path, output=tmp_path, search_paths=(), refs=tmp_path)
    return BatchRun(key=key, request=request, targets={}, jobs={}, staging=tmp_path, limits=DEFAULT_LIMITS)


def perform(
    pool: Pool, run: BatchRun, *names: str, at_once: int = 1, keep: int = 1, numbers: set[int | None] | None = None
) -> list[TaskOutcome]:
    """Anything that came of these tasks, in the order of their names."""
    waiting = list(names)
    busy: set[str] = set()
    outcomes: dict[str, TaskOutcome] = {}

    def offer() -> Task | None:
        if not waiting or len(busy) >= at_once:
            return None
        busy.add(waiting[0])
        return InspectTask(run, waiting.pop(0))

    def done(task: Task, outcome: TaskOutcome, worker: int | None) -> None:
        assert isinstance(task, InspectTask)
        busy.discard(task.instance)
        outcomes[task.instance] = outcome
        if numbers is not None:
            numbers.add(worker)

    pool.run(offer, done, keep)
    return [outcomes[name] for name in names]


def process(outcome: TaskOutcome) -> int:
    assert outcome.errors == ()
    return int(outcome.notes[0])


def death(outcome: TaskOutcome) -> str:
    (error,) = outcome.errors
    assert isinstance(error, EnvironmentFault)
    assert error.code == "CMD-ENG-005"
    return error.message


def open_files(pid: int | str = "self") -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def server_of(pool: Pool) -> int:
    assert pool._server is not None
    return pool._server.pid


def test_workers_are_renewed_without_end(pool: Pool, tmp_path: Path) -> None:
    """As many saves of somebody who watches. Nothing piles up: neither what the server says of workers that have ended
    (no socket holds 500 messages), nor what is open here and there.
    """
    run = run_of(tmp_path)
    names = [str(number) for number in range(10)]
    perform(pool, run, *names, at_once=10, keep=10)
    before, there = open_files(), open_files(server_of(pool))
    for _ in range(ROUNDS):
        pool.renew()
        numbers: set[int | None] = set()
        outcomes = perform(pool, run, *names, at_once=10, keep=10, numbers=numbers)
        assert [outcome.errors for outcome in outcomes] == [()] * 10
    assert numbers == set(range(ROUNDS * 10, ROUNDS * 10 + 10))
    assert open_files() == before
    assert open_files(server_of(pool)) <= there + 10  # the last but one may not be noticed yet


def test_workers_that_have_ended_are_explained(pool: Pool, tmp_path: Path) -> None:
    run = run_of(tmp_path)
    killed, ended, good = perform(pool, run, "die", "end", "task", at_once=3)
    assert death(killed) == "the worker process reading instance 'die' was killed by SIGKILL"
    assert death(ended) == "the worker process reading instance 'end' ended with exit code 7"
    assert good.notes[1] == "task"


def test_a_worker_that_is_killed_while_it_waits_is_replaced(pool: Pool, tmp_path: Path) -> None:
    run = run_of(tmp_path)
    first, second = map(process, perform(pool, run, "a", "b", at_once=2, keep=2))
    os.kill(first, signal.SIGKILL)
    assert all(wait([worker.connection], 60) for worker in pool._workers if worker.number == 0)
    results = set(map(process, perform(pool, run, "a", "b", at_once=2, keep=2)))
    assert first not in results
    assert second in results


def test_a_server_that_dies_is_replaced(pool: Pool, tmp_path: Path) -> None:
    run = run_of(tmp_path)
    perform(pool, run, "a", "b", at_once=2, keep=2)
    before = open_files()
    for _ in range(3):
        old = server_of(pool)
        os.kill(old, signal.SIGKILL)
        assert pool._control is not None
        assert wait([pool._control], 60)
        perform(pool, run, "a", "b", at_once=2, keep=2)
        assert server_of(pool) != old
    assert open_files() == before


def test_a_server_that_dies_in_the_middle(pool: Pool, tmp_path: Path) -> None:
    """Anything that is under way fails, the run ends, and the next one is good."""
    run = run_of(tmp_path)
    tasks = [InspectTask(run, "server"), InspectTask(run, "later")]
    outcomes: list[TaskOutcome] = []

    def offer() -> Task | None:
        return tasks.pop(0) if tasks and len(outcomes) == 2 - len(tasks) else None

    perform(pool, run, "task")
    pool.run(offer, lambda _, outcome, __: outcomes.append(outcome), 1)
    assert [death(outcome) for outcome in outcomes] == [
        "the worker process reading instance 'server' ended",
        "the worker process reading instance 'later' ended",
    ]
    assert process(perform(pool, run, "task")[0])


def test_a_server_without_room_for_another_file(pool: Pool, tmp_path: Path) -> None:
    run = run_of(tmp_path)
    process(perform(pool, run, "task", keep=0)[0])
    limits = resource.prlimit(server_of(pool), resource.RLIMIT_NOFILE)
    resource.prlimit(server_of(pool), resource.RLIMIT_NOFILE, (3, limits[1]))
    assert death(perform(pool, run, "task")[0]) == "the worker process reading instance 'task' ended"
    resource.prlimit(server_of(pool), resource.RLIMIT_NOFILE, limits)
    assert process(perform(pool, run, "task")[0])


def test_a_run_that_is_interrupted_ends_its_workers(pool: Pool, tmp_path: Path) -> None:
    """They must not go on writing; the next run gets other ones."""
    run = run_of(tmp_path)
    tasks: list[Task] = [InspectTask(run, "large"), InspectTask(run, "large")]

    def interrupt(_: Task, __: TaskOutcome, ___: int | None) -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        waiting = list(tasks)
        with pytest.raises(KeyboardInterrupt):
            pool.run(lambda waiting=waiting: waiting.pop() if waiting else None, interrupt, 2)  # type: ignore[misc]
        assert pool._server is None
        assert pool._workers == []
    assert process(perform(pool, run, "task")[0])


def test_runs_of_several_threads_take_turns(pool: Pool, tmp_path: Path) -> None:
    def several(number: int) -> list[list[str]]:
        run = run_of(tmp_path, str(number))
        results = []
        for _ in range(5):
            outcomes = perform(pool, run, f"{number}-a", "large", f"{number}-b", at_once=3, keep=number % 3)
            results.append([outcomes[0].notes[1], outcomes[2].notes[1]])
            pool.renew()
        return results

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(several, range(4))) == [[[f"{number}-a", f"{number}-b"]] * 5 for number in range(4)]


def test_closing_ends_the_run_of_another_thread(pool: Pool, tmp_path: Path) -> None:
    run = run_of(tmp_path)
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(perform, pool, run, f"wait {begun}", "later")
        begun.read_text()
        pool.close()
        waited, later = running.result()
    assert "'later' ended" in death(later)
    assert death(waited)
    assert "'task' ended" in death(perform(pool, run, "task")[0])  # nothing starts any more
    pool.close()


def test_a_worker_that_cannot_be_imported(tmp_path: Path) -> None:
    pool = worker_pool("tests.base.no_such_module")
    try:
        for _ in range(2):
            (error,) = perform(pool, run_of(tmp_path), "task")[0].errors
            assert error.code == "CMD-ENG-004"
            assert "no_such_module" in error.message
    finally:
        pool.close()
