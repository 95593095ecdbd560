"""Tasks on their way to a worker: what many of them share is sent once, and named from then on.

The run that a task belongs to lists all instances and targets. Sent with each task, it would take longer than many
tasks.
"""

from __future__ import annotations

import io
import pickle
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar


class SharedPayload:
    """What many tasks have in common."""

    __slots__ = ()
    key: str
    """Tells one from another."""


class Task(Protocol):
    """What a worker can be given."""

    @property
    def run(self) -> SharedPayload: ...

    @property
    def seconds(self) -> float:
        """How long a worker may take for it; infinite for any time."""


TaskT = TypeVar("TaskT", bound=Task)


class TaskSender(Generic[TaskT]):
    """The main process's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent: set[str] = set()

    def send(self, task: TaskT) -> None:
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


class TaskReceiver(Generic[TaskT]):
    """The worker's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._runs: dict[str, SharedPayload] = {}

    def receive(self) -> TaskT:
        """The next task.

        Raises:
            EOFError: there will be no more.
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
    """Reads what the main process, which is the same program, has written."""

    def __init__(self, file: io.BytesIO, runs: dict[str, SharedPayload]) -> None:
        super().__init__(file)
        self._runs = runs

    def persistent_load(self, pid: Any) -> SharedPayload:
        return self._runs[pid]
