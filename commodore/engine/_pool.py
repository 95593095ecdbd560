"""The main process's side of the workers: start them, hand out tasks, notice when one dies, end them all."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection, wait

from commodore.engine._tasks import CompileTask, FetchTask, Outcome, Task
from commodore.engine._wire import TaskSender
from commodore.errors import EnvironmentFault

_BOOT = "import sys; sys.path[:] = sys.argv[2:]; from commodore.engine._server import serve; serve(int(sys.argv[1]))"
_PATIENCE = 2.0  # seconds to learn how a worker ended that is known to be gone


class _Worker:
    """One worker. `number` counts workers in the order in which they were asked for."""

    def __init__(self, number: int, connection: Connection) -> None:
        self.number = number
        self.connection = connection
        self.sender = TaskSender(connection)
        self.task: Task | None = None


class WorkerPool:
    """Workers that are started when they are first needed and live until `close`."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None
        self._workers: list[_Worker] = []
        self._asked = 0
        self._started: list[int] = []
        self._ended: dict[int, int] = {}
        self._failure = ""
        self._unread = b""

    def get_ready(self) -> None:
        """Let the server process import Kapitan, while the caller does something else. Twice is as good as once."""
        if self._server is not None:
            return
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        path = [entry or os.getcwd() for entry in sys.path]
        with theirs:
            descriptor = theirs.fileno()
            # -P: the current folder is not searched for modules; utf8: files are read alike in every locale.
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, str(descriptor), *path],
                stdin=subprocess.DEVNULL,
                pass_fds=(descriptor,),
                start_new_session=True,
            )

    def renew(self) -> bool:
        """End all workers, which are idle now. Returns False if no other ones can be started: the server has died."""
        self._dismiss(0)
        return self._server is None or self._server.poll() is None

    def run(self, offer: Callable[[], Task | None], done: Callable[[Task, Outcome], None], keep: int) -> None:
        """Perform what `offer` gives, each task on a worker of its own, and call `done` for each in the order in which
        they end.

        `offer` is asked until it gives nothing, at first and whenever tasks have ended: it decides how many run at the
        same time. Idle workers beyond `keep` are ended, as each takes memory. Whatever interrupts this (Ctrl-C, an
        error in `done`) ends the workers first: they must not go on writing.
        """
        self.get_ready()
        try:
            self._run(offer, done, keep)
        except BaseException:
            self.close()
            raise

    def _run(self, offer: Callable[[], Task | None], done: Callable[[Task, Outcome], None], keep: int) -> None:
        busy: list[_Worker] = []
        while True:
            while (offered := offer()) is not None:
                worker = next((worker for worker in self._workers if worker.task is None), None) or self._start()
                worker.task = offered
                busy.append(worker)
                with contextlib.suppress(OSError):  # a worker that is gone is noticed below, when its answer is read
                    worker.sender.send(offered)
            self._dismiss(keep)
            if not busy:
                return
            ready = set(wait([worker.connection for worker in busy]))
            for worker in [worker for worker in busy if worker.connection in ready]:
                busy.remove(worker)
                task, worker.task = worker.task, None
                assert task is not None
                done(task, self._receive(worker, task))

    def _dismiss(self, keep: int) -> None:
        for worker in [worker for worker in self._workers if worker.task is None][keep:]:
            self._workers.remove(worker)
            worker.connection.close()  # which is how a worker learns that there is nothing more to do

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs, contextlib.suppress(OSError):  # the server is gone: reading from the worker will show it
            socket.send_fds(self._control, [b"w"], [theirs.fileno()])
        worker = _Worker(self._asked, Connection(ours.detach()))
        self._asked += 1
        self._workers.append(worker)
        return worker

    def _receive(self, worker: _Worker, task: Task) -> Outcome:
        try:
            outcome: Outcome = worker.connection.recv()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.connection.close()
            return Outcome(errors=(self._explain_death(worker, task),))
        return replace(outcome, worker=worker.number)

    def _explain_death(self, worker: _Worker, task: Task) -> EnvironmentFault:
        status = self._exit_status(worker)
        if self._failure:
            return EnvironmentFault(
                "CMD-ENG-004",
                f"the rendering engine cannot start: {self._failure}",
                hint="the installation is incomplete: install commodore with its dependencies again",
            )
        what = "fetching dependencies" if isinstance(task, FetchTask) else "compiling"
        if not isinstance(task, CompileTask | FetchTask):
            what = "reading"
        how = "ended"
        if status is not None:
            how = f"was killed by {_signal_name(-status)}" if status < 0 else f"ended with exit code {status}"
        return EnvironmentFault(
            "CMD-ENG-005",
            f"the worker process {what} instance {task.instance!r} {how}",
            hint="it may have run out of memory: try again with fewer processes (--processes 1)",
        )

    def _exit_status(self, worker: _Worker) -> int | None:
        """How a worker ended, if the server tells in time."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            if worker.number < len(self._started) and self._started[worker.number] in self._ended:
                return self._ended[self._started[worker.number]]
            readable, _, _ = select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))
            if not readable or not self._read_control():
                return None

    def _read_control(self) -> bool:
        try:
            received = self._control.recv(4096)
        except OSError:
            return False
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "started" in message:
                self._started.append(message["started"])
            elif "exit" in message:
                self._ended[message["exit"]] = message["status"]
            else:
                self._failure = message["failed"]
        return bool(received)

    def close(self) -> None:
        """End the server, the workers and whatever they have started. Nothing that they did is undone."""
        if self._server is None:
            return
        if self._server.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
        for worker in self._workers:
            worker.connection.close()
        self._workers.clear()
        self._control.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
