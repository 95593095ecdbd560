"""Cancel work from another thread: its programs are terminated, and no more are started.

Callers at an interruption: `programs.threads` for work in threads, `git.store` for fetches, `pipeline` for the
catalog's clone, `workers.pool` for renderings, each in an `except BaseException`. `cli.shell.interruption` describes
how an interruption reaches the main thread.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path


class Cancellation:
    """The processes of a piece of work, which another thread can terminate.

    Args:
        parent: the enclosing work, whose cancellation includes this one.
    """

    def __init__(self, parent: Cancellation | None = None) -> None:
        self._parent = parent
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._cancelled = False

    @contextlib.contextmanager
    def hold(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Register `process` while the block runs; terminate it at once if the work was cancelled before."""
        with self._lock:
            self._running.add(process)
            cancelled = self._cancelled
        if cancelled:
            terminate_tree(process)
        try:
            with self._parent.hold(process) if self._parent is not None else contextlib.nullcontext():
                yield
        finally:
            with self._lock:
                self._running.discard(process)

    @property
    def is_cancelled(self) -> bool:
        """True if this work or an enclosing one was cancelled."""
        return self._cancelled or (self._parent is not None and self._parent.is_cancelled)

    def cancel(self) -> None:
        """Terminate all running processes, and every later one at its start."""
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for process in running:
            terminate_tree(process)


def terminate_tree(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM to a process and its descendants.

    Git does not terminate its transport (`git remote-https`, `ssh`), which would live on and hold open the pipes that
    git's caller reads. The process is stopped first, so that it starts nothing while its descendants are searched. On
    systems other than Linux only the process itself gets the signal.
    """
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGSTOP)
        for pid in [*descendants(process.pid), process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGCONT)


def descendants(pid: int) -> list[int]:
    """Return the descendants of a process; empty on systems that do not list them."""
    try:
        below = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [descendant for child in below for descendant in (*descendants(child), child)]
