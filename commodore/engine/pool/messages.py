"""Tasks on their way to a worker: the run that they belong to is sent once, and named from then on.

A run lists all instances and targets. Sent with each task, it would take longer than many tasks.
"""

from __future__ import annotations

import io
import pickle
from multiprocessing.connection import Connection
from typing import Any

from commodore.engine.tasks import Run, Task


class TaskSender:
    """The main process's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent: set[str] = set()

    def send(self, task: Task) -> None:
        """Send a task.

        Raises:
            OSError: the worker is gone.
        """
        if task.run.key not in self._sent:
            self._connection.send_bytes(pickle.dumps(task.run))
            self._sent.add(task.run.key)
        buffer = io.BytesIO()
        _TaskPickler(buffer).dump(task)
        self._connection.send_bytes(buffer.getvalue())


class TaskReceiver:
    """The worker's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._runs: dict[str, Run] = {}

    def receive(self) -> Task:
        """The next task.

        Raises:
            EOFError: there will be no more.
        """
        while True:
            received = _TaskUnpickler(io.BytesIO(self._connection.recv_bytes()), self._runs).load()
            if not isinstance(received, Run):
                task: Task = received
                return task
            self._runs[received.key] = received


class _TaskPickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> str | None:
        return obj.key if isinstance(obj, Run) else None


class _TaskUnpickler(pickle.Unpickler):
    """TraceRecorder what the main process, which is the same program, has written."""

    def __init__(self, file: io.BytesIO, runs: dict[str, Run]) -> None:
        super().__init__(file)
        self._runs = runs

    def persistent_load(self, pid: Any) -> Run:
        return self._runs[pid]
