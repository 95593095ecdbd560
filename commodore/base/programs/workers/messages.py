"""Tasks for workers: data shared by many tasks is sent once, and referred to afterwards.

A task's run lists all instances and targets. Sending it with each task would take longer than many tasks.
"""

from __future__ import annotations

import io
import pickle
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar


class SharedPayload:
    """Data shared by many tasks."""

    __slots__ = ()
    key: str
    """The identity of the payload."""


class Task(Protocol):
    """A task for a worker."""

    @property
    def run(self) -> SharedPayload: ...

    @property
    def seconds(self) -> float:
        """The timeout of the task; infinite for none."""


TaskT = TypeVar("TaskT", bound=Task)


class TaskSender(Generic[TaskT]):
    """The main process's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent: set[str] = set()

    def send(self, task: TaskT) -> None:
        """Send a task.

        Raises:
            OSError: the worker has ended.
        """
        if task.run.key not in self._sent:
            self._connection.send_bytes(pickle.dumps(task.run))
            self._sent.add(task.run.key)
        buffer = io.BytesIO()
        _TaskPickler(buffer).dump(task)
        self._connection.send_bytes(buffer.getvalue())


class TaskReceiver(Generic[TaskT]):
    """The worker's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._runs: dict[str, SharedPayload] = {}

    def receive(self) -> TaskT:
        """Receive the next task.

        Raises:
            EOFError: no more tasks.
        """
        while True:
            received = _TaskUnpickler(io.BytesIO(self._connection.recv_bytes()), self._runs).load()
            if not isinstance(received, SharedPayload):
                task: TaskT = received
                return task
            self._runs[received.key] = received


class _TaskPickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> str | None:
        return obj.key if isinstance(obj, SharedPayload) else None


class _TaskUnpickler(pickle.Unpickler):
    """Reads data written by the main process, which is the same program."""

    def __init__(self, file: io.BytesIO, runs: dict[str, SharedPayload]) -> None:
        super().__init__(file)
        self._runs = runs

    def persistent_load(self, pid: Any) -> SharedPayload:
        return self._runs[pid]
