"""The process that imports the workers' modules once, and forks workers. Started by
`commodore.base.programs.workers.pool`.

It is a fork server of our own, since multiprocessing's imports the caller's main program again in every worker and
keeps further helper processes. Requirements (docs/adr/0003):

* the Go runtime is never started in this process, so that forking stays safe;
* this process leads a process group that holds the workers and their child processes (helm, kustomize, external
  commands); when the main process closes the control socket or dies, the whole group is killed;
* this process never waits for a reader: the control socket only sends to it, and the end of a worker is written to a
  pipe of that worker alone, which fits into an empty pipe whether it is read or not;
* child processes that a worker leaves behind become children of this process (Linux), which kills them.

Control socket: each byte from the main process carries two descriptors, the connection of a new worker and the pipe
for its end. The pipe carries `{"pid": n}` after the start, and one more JSON object: `{"status": n}`,
`{"refused": text}` if the operating system starts no more processes, or `{"failed": text}` if the module cannot be
imported.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Collection
from multiprocessing.connection import Connection
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def serve(descriptor: int, module: str) -> None:
    """Serve until the control socket closes, then kill the whole process group.

    Args:
        descriptor: the control socket.
        module: the module whose function `work` serves a connection.
    """
    control = socket.socket(fileno=descriptor)
    os.dup2(2, 1)  # output of kadet modules and templates must not mix with the program's stdout
    os.umask(0o022)
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a missing git matters only where it is needed
    try:
        try:
            work: Callable[[int], None] = importlib.import_module(module).work
        except Exception as error:  # a broken installation: the main process reports it
            _refuse(control, f"{type(error).__name__}: {error}")
        else:
            _Server(control, work).run()
    finally:
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)


def _refuse(control: socket.socket, failure: str) -> None:
    """Start no worker, and send the reason for each request."""
    while (descriptors := _next_request(control)) is not None:
        if descriptors:
            os.close(descriptors[0])
            _report(Connection(descriptors[1], readable=False), failed=failure)


def _next_request(control: socket.socket) -> tuple[int, int] | tuple[()] | None:
    """Return the descriptors for another worker; empty if this process has no room for them, None at the end."""
    request, descriptors, _, _ = socket.recv_fds(control, 1, 2)
    if not request:
        return None
    if len(descriptors) == 2:
        return descriptors[0], descriptors[1]
    for descriptor in descriptors:
        os.close(descriptor)
    return ()


def _report(end: Connection, **message: object) -> None:
    """Send the last message about a worker."""
    with end:
        _send(end, **message)


def _send(end: Connection, **message: object) -> None:
    with contextlib.suppress(OSError):  # the reader has ended
        end.send_bytes(json.dumps(message).encode())


def _orphans(known: Collection[int]) -> list[int]:
    """Return the children of this process that it has not started itself."""
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    except OSError:
        return []
    return [int(pid) for pid in listed if int(pid) not in known]


class _Server:
    """Forks a worker for each request, and reports the end of each."""

    def __init__(self, control: socket.socket, work: Callable[[int], None]) -> None:
        self._control = control
        self._work = work
        self._libc = ctypes.CDLL(None) if sys.platform == "linux" else None
        self._ends: dict[int, Connection] = {}

    def run(self) -> None:
        if self._libc is not None:
            self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._bell, self._ringer = os.pipe()
        os.set_blocking(self._ringer, False)
        signal.set_wakeup_fd(self._ringer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select.select([self._control.fileno(), self._bell], [], [])
            if self._bell in ready:
                os.read(self._bell, 4096)
                self._report_ends()
            if self._control.fileno() in ready:
                descriptors = _next_request(self._control)
                if descriptors is None:
                    return
                if descriptors:
                    self._start(*descriptors)

    def _start(self, connection: int, end: int) -> None:
        parent = os.getpid()
        report = Connection(end, readable=False)
        try:
            child = os.fork()
        except OSError as error:
            _report(report, refused=error.strerror)
        else:
            if child == 0:
                report.close()
                self._become_worker(connection, parent)
            self._ends[child] = report
            _send(report, pid=child)
        os.close(connection)

    def _become_worker(self, connection: int, parent: int) -> None:
        """Run as a worker, and exit without unwinding the server's state."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for unused in (self._bell, self._ringer, self._control.detach()):
                os.close(unused)
            for other in self._ends.values():
                other.close()
            if self._libc is not None:
                self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                self._work(connection)
                status = 0
        finally:
            os._exit(status)

    def _report_ends(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._ends:
                _report(self._ends.pop(pid), status=os.waitstatus_to_exitcode(status))
            for orphan in _orphans(self._ends):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(orphan, signal.SIGKILL)
