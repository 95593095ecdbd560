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
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from commodore.child_environment import child_environment
from commodore.engine.pool.messages import TaskSender
from commodore.engine.tasks import CompileTask, FetchTask, Outcome, Task
from commodore.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.exhaustion import find_in_output

_BOOT = """
import sys
_, descriptor, module, *sys.path[:] = sys.argv
from commodore.engine.worker.server import serve
serve(int(descriptor), module)
"""
_OUT_OF_MEMORY = (2, -signal.SIGABRT)  # how the Go runtime ends then, and how libraries do
_PATIENCE = 10.0  # seconds to learn how a worker ended that is known to be gone


class _Worker:
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
        self.sender = TaskSender(connection)
        self.task: Task | None = None
        self.is_late = False
        self._deadline = math.inf
        self._end = end
        self._heard: dict[str, Any] = {}

    def take(self, task: Task) -> None:
        """Work on a task. Fetching has limits of its own."""
        self.task = task
        seconds = math.inf if isinstance(task, FetchTask) else task.run.rendering_seconds
        self._deadline = time.monotonic() + seconds
        with contextlib.suppress(OSError):  # a worker that is gone is noticed when its answer is read
            self.sender.send(task)

    def seconds_left(self) -> float:
        """How long its task may still take."""
        return max(0.0, self._deadline - time.monotonic())

    def stop(self) -> None:
        """End it in the middle of its task, whatever it does."""
        self.is_late, self._deadline = True, math.inf
        pid = self._hear("pid")
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

    def how_it_ended(self) -> Mapping[str, Any]:
        """What the server says of its end; nothing if the server is gone, too."""
        self._hear("status")
        return self._heard

    def _hear(self, wanted: str) -> int | None:
        """What the server says of it, as far as that."""
        with contextlib.suppress(EOFError, OSError):
            while wanted not in self._heard and self._end.poll(_PATIENCE):
                self._heard.update(json.loads(self._end.recv_bytes()))
        return self._heard.get(wanted)


class WorkerPool:
    """Workers that are started when they are first needed and live until `close`.

    Several threads may use one pool: their runs take turns. A server that has died, or was ended together with a run
    that was interrupted, is replaced when the next run needs one.

    Args:
        module: what the workers do: the module whose function `work` serves a connection.
    """

    def __init__(self, module: str = "commodore.engine.worker.worker") -> None:
        self._module = module
        self._turn = threading.RLock()  # who holds it uses the workers
        self._lock = threading.RLock()  # who holds it starts or ends the server
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self._workers: list[_Worker] = []
        self._asked = 0

    def get_ready(self) -> None:
        """Let the server process import Kapitan, while the caller does something else. Twice is as good as once."""
        with self._lock:
            if self._closed or self._is_alive():
                return
            self._end_server()
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            path = [entry or os.getcwd() for entry in sys.path]
            with theirs:
                descriptor = theirs.fileno()
                # -P: the current folder is not searched for modules; utf8: files are read alike in every locale.
                self._server = subprocess.Popen(
                    [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, str(descriptor), self._module, *path],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(descriptor,),
                    env=child_environment(),
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

    def run(self, offer: Callable[[], Task | None], done: Callable[[Task, Outcome], None], keep: int) -> None:
        """Perform what `offer` gives, each task on a worker of its own, and call `done` for each in the order in which
        they end.

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

    def _run(self, offer: Callable[[], Task | None], done: Callable[[Task, Outcome], None], keep: int) -> None:
        busy: list[_Worker] = []
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
                done(task, self._receive(worker, task))

    def _idle(self) -> _Worker | None:
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

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        end, their_end = os.pipe()
        try:
            # If the server is gone, reading from the worker will show it.
            with theirs, contextlib.suppress(OSError):
                if self._control is not None:
                    socket.send_fds(self._control, [b"w"], [theirs.fileno(), their_end])
        finally:
            os.close(their_end)
        worker = _Worker(self._asked, self._server, Connection(ours.detach()), Connection(end, writable=False))
        self._asked += 1
        self._workers.append(worker)
        return worker

    def _receive(self, worker: _Worker, task: Task) -> Outcome:
        try:
            outcome: Outcome = worker.connection.recv()
        except (EOFError, OSError):
            error = _explain_death(worker.how_it_ended(), task, is_late=worker.is_late)
            self._workers.remove(worker)
            worker.close()
            return Outcome(errors=(error,))
        return replace(outcome, worker=worker.number)

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


def _explain_death(end: Mapping[str, Any], task: Task, *, is_late: bool) -> CommodoreError:
    """Why a worker did not answer.

    Args:
        end: what the server says.
        is_late: whether it was ended as it took too long.
    """
    if is_late:
        return PolicyError(
            "CMD-CONF-009",
            f"instance {task.instance!r}: {_at_work(task)} did not end within {task.run.rendering_seconds:g} seconds",
            hint="look for an endless loop there; a trust policy can allow more time",
        )
    if int(end.get("status", 0)) in _OUT_OF_MEMORY and isinstance(task, CompileTask):
        return PolicyError(
            "CMD-CONF-010",
            f"instance {task.instance!r}: {_at_work(task)} takes more than {task.run.rendering_bytes} bytes of memory",
            hint="look for something that grows without end there; a trust policy can allow more memory",
        )
    if "failed" in end:
        return find_in_output(end["failed"], "the rendering engine cannot start") or EnvironmentFault(
            "CMD-ENG-004",
            f"the rendering engine cannot start: {end['failed']}",
            hint="the installation is incomplete: install commodore with its dependencies again",
        )
    what = "fetching dependencies" if isinstance(task, FetchTask) else "compiling"
    if not isinstance(task, CompileTask | FetchTask):
        what = "reading"
    how = "ended"
    if "refused" in end:
        how = f"could not be started: {end['refused']}"
    elif "status" in end:
        status = int(end["status"])
        how = f"was killed by {_signal_name(-status)}" if status < 0 else f"ended with exit code {status}"
    return EnvironmentFault(
        "CMD-ENG-005",
        f"the worker process {what} instance {task.instance!r} {how}",
        hint="it may have run out of memory: try again with fewer processes (--processes 1)",
    )


def _at_work(task: Task) -> str:
    """What a worker was at when it last said so."""
    with contextlib.suppress(OSError):
        return task.run.at_work(task.instance).read_text(encoding="utf-8", errors="replace")
    return "reading its settings"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
