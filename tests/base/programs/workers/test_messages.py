"""Tasks between processes: each run crosses once."""

from __future__ import annotations

from multiprocessing import Pipe
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.programs.workers.messages import TaskReceiver, TaskSender
from commodore.core.engine.model import CompileRequest, InstanceJob
from commodore.core.engine.tasks import BatchRun, CompileTask, InspectTask

HERE = Path("/here")


def make_run(key: str, instances: int = 1) -> BatchRun:
    jobs = {f"i{n}": InstanceJob(f"i{n}", "c", HERE / str(n)) for n in range(instances)}
    return BatchRun(key, CompileRequest(HERE, HERE, (), HERE), {}, jobs, HERE, DEFAULT_LIMITS)


def test_tasks_arrive_with_their_runs() -> None:
    ours, theirs = Pipe()
    sender, receiver = TaskSender(ours), TaskReceiver(theirs)
    item, two = make_run("one"), make_run("two")
    for task in (InspectTask(item, "i0"), CompileTask(two, "i0"), CompileTask(item, "i0")):
        sender.send(task)
        assert receiver.receive() == task
    ours.close()
    with pytest.raises(EOFError):
        receiver.receive()


def test_a_run_is_sent_once() -> None:
    ours, theirs = Pipe()
    sender, run = TaskSender(ours), make_run("one", instances=500)
    sizes = []
    for _ in range(3):
        sender.send(CompileTask(run, "i0"))
        while theirs.poll():
            sizes.append(len(theirs.recv_bytes()))
    assert sizes[0] > 10_000
    assert max(sizes[1:]) < 500
    assert len(sizes) == 4
