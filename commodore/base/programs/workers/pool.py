"""The main process's side of the workers: start them, hand out tasks, notice when one dies, end them all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from commodore.base.programs.child_processes import Child, child_environment, start_program
from commodore.base.programs.workers.messages import TaskSender, TaskT

_BOOT = """
import sys
_, descriptor, module, *sys.path[:] = sys.argv
from commodore.base.programs.workers.server import serve
serve(int(descriptor), module)
"""
_PATIENCE = 10.0  # seconds to learn how a worker ended that is known to be gone


OutcomeT = TypeVar("OutcomeT")


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """How a worker has ended, as far as that is known.

    Args:
        status: its exit code, or the number of a signal, negated.
        refused: why the operating system has not started it.
        failed: why what the workers do cannot be imported.
        is_late: whether it was ended as its task took too long.
    """

    status: int | None = None
    refused: str | None = None
    failed: str | None = None
    is_late: bool = False

    def __str__(self) -> str:
        if self.refused is not None:
            return f"could not be started: {self.refused}"
        if self.status is None:
            return "ended"
        return (
            f"was killed by {_signal_name(-self.status)}" if self.status < 0 else f"ended with exit code {self.status}"
        )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Worker(Generic[TaskT]):
    """One worker.

    Args:
        number: counts workers in the order in which they were asked for.
        server: which process was asked for it.
        end: says how it has ended.
    """

    def __init__(
        self, number: int, server: subprocess.Popen[bytes] | None, connection: Connection, end: Connection
    ) -> None:
        self.number = number
        self.server = server
        self.connection = connection
        self.sender: TaskSender[TaskT] = TaskSender(connection)
        self.task: TaskT | None = None
        self.is_late = False
        self._deadline = math.inf
        self._end = end
        self._received: dict[str, Any] = {}

    def take(self, task: TaskT) -> None:
        """Work on a task."""
        self.task = task
        self._deadline = time.monotonic() + task.seconds
        with contextlib.suppress(OSError):  # a worker that is gone is noticed when its answer is read
            self.sender.send(task)

    def seconds_left(self) -> float:
        """How long its task may still take."""
        return max(0.0, self._deadline - time.monotonic())

    def stop(self) -> None:
        """End it in the middle of its task, whatever it does."""
        self.is_late, self._deadline = True, math.inf
        pid = self._receive_until("pid")
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            if pid is not None:
                os.kill(pid, signal.SIGKILL)

    def is_gone(self) -> bool:
        """Whether it has ended while it had nothing to do. Nothing but its end can be read from it then."""
        return self.connection.poll()

    def close(self) -> None:
        """Let it go: that there will be no more tasks is what it ends by."""
        self.connection.close()
        self._end.close()

    def how_it_ended(self) -> WorkerEnd:
        """What the server says of its end; nothing if the server is gone, too."""
        self._receive_until("status")
        said = {name: self._received.get(name) for name in ("status", "refused", "failed")}
        return WorkerEnd(**said, is_late=self.is_late)

    def _receive_until(self, wanted: str) -> int | None:
        """What the server says of it, as far as that."""
        with contextlib.suppress(EOFError, OSError):
            while wanted not in self._received and self._end.poll(_PATIENCE):
                self._received.update(json.loads(self._end.recv_bytes()))
        return self._received.get(wanted)


class WorkerPool(Generic[TaskT, OutcomeT]):
    """Workers that are started when they are first needed and live until `close`.

    Several threads may use one pool: their runs take turns. A server that has died, or was ended together with a run
    that was interrupted, is replaced when the next run needs one.

    Args:
        module: what the workers do: the module whose function `work` serves a connection.
        died: the outcome of a task whose worker has not answered.
    """

    def __init__(self, module: str, died: Callable[[TaskT, WorkerEnd], OutcomeT]) -> None:
        self._module = module
        self._died = died
        self._turn = threading.RLock()  # who holds it uses the workers
        self._lock = threading.RLock()  # who holds it starts or ends the server
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self._workers: list[_Worker[TaskT]] = []
        self._asked = 0

    def get_ready(self) -> None:
        """Let the server process import what workers need, while the caller does something else. Twice is as good as
        once.
        """
        with self._lock:
            if self._closed or self._is_alive():
                return
            self._end_server()
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            path = [entry or os.getcwd() for entry in sys.path]
            with theirs:
                descriptor = theirs.fileno()
                # -P: the current folder is not searched for modules; utf8: files are read alike in every locale.
                self._server = start_program(
                    [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, str(descriptor), self._module, *path],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(descriptor,),
                    env=child_environment(Child.WORKER),
                    start_new_session=True,
                )

    def _is_alive(self) -> bool:
        """Whether there is a server. It sends nothing, so all that can be read from it is its end."""
        if self._server is None or self._control is None:
            return False
        try:
            return self._control.recv(1, socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def renew(self) -> None:
        """End all workers, which are idle now; others are started when they are needed."""
        with self._turn:
            self._dismiss(0)
        self.get_ready()

    def run(
        self, offer: Callable[[], TaskT | None], done: Callable[[TaskT, OutcomeT, int | None], None], keep: int
    ) -> None:
        """Perform what `offer` gives, each task on a worker of its own, and call `done` for each in the order in which
        they end, with the number of its worker (None if that has died).

        `offer` is asked until it gives nothing, at first and whenever tasks have ended: it decides how many run at the
        same time. Idle workers beyond `keep` are ended, as each takes memory. Whatever interrupts this (Ctrl-C, an
        error in `done`) ends the workers first: they must not go on writing.
        """
        with self._turn:
            self.get_ready()
            try:
                self._run(offer, done, keep)
            except BaseException:
                self._end_server()
                self._dismiss_all()
                raise

    def _run(
        self, offer: Callable[[], TaskT | None], done: Callable[[TaskT, OutcomeT, int | None], None], keep: int
    ) -> None:
        busy: list[_Worker[TaskT]] = []
        while True:
            while (offered := offer()) is not None:
                worker = self._idle() or self._start()
                worker.take(offered)
                busy.append(worker)
            self._dismiss(keep)
            if not busy:
                return
            left = min(worker.seconds_left() for worker in busy)
            ready = set(wait([worker.connection for worker in busy], None if math.isinf(left) else left))
            for worker in busy:
                if worker.connection not in ready and worker.seconds_left() == 0.0:
                    worker.stop()
            for worker in [worker for worker in busy if worker.connection in ready]:
                busy.remove(worker)
                task, worker.task = worker.task, None
                assert task is not None
                done(task, *self._receive(worker, task))

    def _idle(self) -> _Worker[TaskT] | None:
        """A worker that waits for something to do. Those that have ended meanwhile are let go."""
        for worker in [worker for worker in self._workers if worker.task is None]:
            if worker.server is self._server and not worker.is_gone():
                return worker
            self._workers.remove(worker)
            worker.close()
        return None

    def _dismiss(self, keep: int) -> None:
        for worker in [worker for worker in self._workers if worker.task is None][keep:]:
            self._workers.remove(worker)
            worker.close()

    def _dismiss_all(self) -> None:
        while self._workers:
            self._workers.pop().close()

    def _start(self) -> _Worker[TaskT]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        end, their_end = os.pipe()
        try:
            # If the server is gone, reading from the worker will show it.
            with theirs, contextlib.suppress(OSError):
                if self._control is not None:
                    socket.send_fds(self._control, [b"w"], [theirs.fileno(), their_end])
        finally:
            os.close(their_end)
        worker: _Worker[TaskT] = _Worker(
            self._asked, self._server, Connection(ours.detach()), Connection(end, writable=False)
        )
        self._asked += 1
        self._workers.append(worker)
        return worker

    def _receive(self, worker: _Worker[TaskT], task: TaskT) -> tuple[OutcomeT, int | None]:
        try:
            outcome: OutcomeT = worker.connection.recv()
        except (EOFError, OSError):
            end = worker.how_it_ended()
            self._workers.remove(worker)
            worker.close()
            return self._died(task, end), None
        return outcome, worker.number

    def close(self) -> None:
        """End the server, the workers and whatever they have started. Nothing that they did is undone.

        A run in another thread fails, and this waits for it. There will be no other one.
        """
        self._closed = True
        self._end_server()
        with self._turn:
            self._dismiss_all()

    def _end_server(self) -> None:
        with self._lock:
            server, self._server = self._server, None
            control, self._control = self._control, None
            if control is not None:
                control.close()
            if server is not None:
                with contextlib.suppress(ProcessLookupError):  # only `wait` takes its number from the dead
                    os.killpg(server.pid, signal.SIGKILL)
                server.wait()
