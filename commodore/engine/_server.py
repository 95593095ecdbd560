"""The process that imports Kapitan once and forks the workers. Started by `commodore.engine._pool`.

It is a fork server of our own rather than multiprocessing's, because that one imports the caller's main program again
in every worker and keeps further helper processes. What matters here (docs/adr/0003):

* the Go runtime is never started in this process, so that forking stays safe;
* this process leads a process group that holds the workers and all they start (helm, kustomize, external commands);
  when the main process closes the control socket or dies, the whole group is killed.

Control socket: each byte from the main process carries one descriptor, the connection of a new worker. Back come JSON
lines: `{"started": pid}`, `{"exit": pid, "status": n}` and, if Kapitan cannot be imported, `{"failed": text}`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def serve(descriptor: int) -> None:
    """Serve until the control socket closes, then end the whole process group."""
    control = socket.socket(fileno=descriptor)
    os.dup2(2, 1)  # what a kadet module or a template prints must not mix with the program's output
    os.umask(0o022)
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a missing git matters to those who need it only
    try:
        try:
            from commodore.engine import _worker
        except Exception as error:  # a broken installation: the main process tells the user
            _report(control, failed=f"{type(error).__name__}: {error}")
        else:
            _fork_on_demand(control, _worker.work)
    finally:
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)


def _report(control: socket.socket, **message: object) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more: the loop ends with the next read
        control.sendall(json.dumps(message).encode() + b"\n")


def _fork_on_demand(control: socket.socket, work: Callable[[int], None]) -> None:
    bell, ringer = os.pipe()
    os.set_blocking(ringer, False)
    signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    while True:
        ready, _, _ = select.select([control.fileno(), bell], [], [])
        if bell in ready:
            os.read(bell, 4096)
            _report_exits(control)
        if control.fileno() in ready:
            request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
            if not request:
                return
            parent = os.getpid()
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for unused in (bell, ringer, control.detach()):
                    os.close(unused)
                if libc is not None:
                    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
                _run_worker(work, descriptors[0], parent)
            os.close(descriptors[0])
            _report(control, started=child)


def _run_worker(work: Callable[[int], None], descriptor: int, parent: int) -> None:
    """Work, and end without unwinding what belongs to the server."""
    status = 1
    try:
        if os.getppid() == parent:
            work(descriptor)
            status = 0
    finally:
        os._exit(status)


def _report_exits(control: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        _report(control, exit=pid, status=os.waitstatus_to_exitcode(status))
