"""The main process's side of the workers: start them, assign tasks, detect crashes, terminate them."""

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
_END_TIMEOUT = 10.0  # seconds to receive the exit status of a worker that has ended


OutcomeT = TypeVar("OutcomeT")


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """The end of a worker, with the known details.

    Args:
        status: its exit code, or the negated number of a signal.
        refused: the reason why the operating system has not started it.
        failed: the reason why the workers' module cannot be imported.
        is_late: true if it was terminated as its task took too long.
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
    """A worker.

    Args:
        number: its number in the order of requests.
        server: the pid of the server that forked it.
        end: the pipe for its exit status.
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
        """Start a task."""
        self.task = task
        self._deadline = time.monotonic() + task.seconds
        with contextlib.suppress(OSError):  # a worker that has ended is detected when its answer is read
            self.sender.send(task)

    def seconds_left(self) -> float:
        """The remaining time of its task."""
        return max(0.0, self._deadline - time.monotonic())

    def stop(self) -> None:
        """Kill it in the middle of its task."""
        self.is_late, self._deadline = True, math.inf
        pid = self._receive_until("pid")
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            if pid is not None:
                os.kill(pid, signal.SIGKILL)

    def is_gone(self) -> bool:
        """True if it has ended while it was idle. Then only its end can be read from it."""
        return self.connection.poll()

    def close(self) -> None:
        """Dismiss it: it ends after the last task."""
        self.connection.close()
        self._end.close()

    def how_it_ended(self) -> WorkerEnd:
        """Return its end as reported by the server; unknown if the server has ended, too."""
        self._receive_until("status")
        said = {name: self._received.get(name) for name in ("status", "refused", "failed")}
        return WorkerEnd(**said, is_late=self.is_late)

    def _receive_until(self, key: str) -> int | None:
        """Read reports of the server up to one with this key."""
        with contextlib.suppress(EOFError, OSError):
            while key not in self._received and self._end.poll(_END_TIMEOUT):
                self._received.update(json.loads(self._end.recv_bytes()))
        return self._received.get(key)


class WorkerPool(Generic[TaskT, OutcomeT]):
    """Workers that are started on first use and live until `close`.

    Several threads may use a pool: their runs take turns. A server that has died, or was terminated with an interrupted
    run, is replaced when the next run needs one.

    Args:
        module: the workers' module, whose function `work` serves a connection.
        died: returns the outcome of a task whose worker has not answered.
    """

    def __init__(self, module: str, died: Callable[[TaskT, WorkerEnd], OutcomeT]) -> None:
        self._module = module
        self._died = died
        self._turn = threading.RLock()  # held while the workers are used
        self._lock = threading.RLock()  # held while the server is started or stopped
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self._workers: list[_Worker[TaskT]] = []
        self._asked = 0

    def get_ready(self) -> None:
        """Let the server process import the workers' modules in the background. May be called repeatedly."""
        with self._lock:
            if self._closed or self._is_alive():
                return
            self._end_server()
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            path = [entry or os.getcwd() for entry in sys.path]
            with theirs:
                descriptor = theirs.fileno()
                # -P: do not import modules of the current folder; utf8: the same encoding in every locale.
                self._server = start_program(
                    [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, str(descriptor), self._module, *path],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(descriptor,),
                    env=child_environment(Child.WORKER),
                    start_new_session=True,
                )

    def _is_alive(self) -> bool:
        """True if the server runs. It sends nothing: only its end can be read from it."""
        if self._server is None or self._control is None:
            return False
        try:
            return self._control.recv(1, socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def renew(self) -> None:
        """Terminate all workers, which are idle now; new ones are started when they are needed."""
        with self._turn:
            self._dismiss(0)
        self.get_ready()

    def run(
        self, offer: Callable[[], TaskT | None], done: Callable[[TaskT, OutcomeT, int | None], None], keep: int
    ) -> None:
        """Run the tasks of `offer`, each in a worker of its own, and call `done` for each in the order in which they
        end, with the number of its worker (None if that has died).

        `offer` is called until it returns None, at first and whenever tasks have ended: it controls the number of
        parallel tasks. Idle workers beyond `keep` are stopped, as each takes memory. An interruption (Ctrl-C, an error
        in `done`) terminates the workers first: they must not continue writing.
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
        """Return an idle worker. Workers that have ended meanwhile are dismissed."""
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
            # If the server has ended, reading from the worker will detect it.
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
        """Terminate the server, the workers and their child processes. Nothing that they did is undone.

        A run in another thread fails, and this waits for it. No run can follow.
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
                with contextlib.suppress(ProcessLookupError):  # only `wait` releases the pid of a dead process
                    os.killpg(server.pid, signal.SIGKILL)
                server.wait()
