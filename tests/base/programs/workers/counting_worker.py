"""Everything that a worker does in tests of the pool: it needs no Kapitan, so that starting one takes next to
nothing.
"""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection

from commodore.base.programs.workers import TaskReceiver
from commodore.core.engine.tasks import InspectTask, TaskOutcome


def work(descriptor: int) -> None:
    """Answer with this process and what was asked for, or end as it is asked for."""
    connection = Connection(descriptor)
    receiver: TaskReceiver[InspectTask] = TaskReceiver(connection)
    while True:
        try:
            task = receiver.receive()
        except EOFError:
            return
        if task.instance == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if task.instance == "end":
            os._exit(7)
        if task.instance == "large":
            connection.send(TaskOutcome(notes=("x" * (4 << 20),)))
            continue
        if task.instance.startswith("wait "):
            with open(task.instance.removeprefix("wait "), "w") as begun:
                begun.write("begun")
            signal.pause()
        if task.instance == "server":
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        connection.send(TaskOutcome(notes=(str(os.getpid()), task.instance)))
