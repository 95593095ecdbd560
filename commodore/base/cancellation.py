"""Ending a piece of work from another thread: the programs that it runs are ended, and no more are started.

Who calls it at an interruption: `programs.threads` for what works in threads, `git.store` for fetches, `pipeline` for
the catalog's clone, `workers.pool` for renderings, each in an `except BaseException`. How an interruption reaches the
main thread stands in `cli.shell.interruption`.
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
    """Knows the processes of one piece of work, so that another thread can end them.

    Args:
        parent: the work that this is a part of; when it is cancelled, so is this.
    """

    def __init__(self, parent: Cancellation | None = None) -> None:
        self._parent = parent
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._cancelled = False

    @contextlib.contextmanager
    def hold(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Know of `process` while the block runs; end it at once if the work was cancelled before."""
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
        """Whether the work, or what it is a part of, was cancelled."""
        return self._cancelled or (self._parent is not None and self._parent.is_cancelled)

    def cancel(self) -> None:
        """End all running processes, and those that are started later."""
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for process in running:
            terminate_tree(process)


def terminate_tree(process: subprocess.Popen[bytes]) -> None:
    """Ask a process and all below it to end.

    Git does not end its transport (`git remote-https`, `ssh`) when it is ended itself; that one would live on, and hold
    the pipes open that its parent's caller reads. The process is stopped first, so that it starts nothing while those
    below it are looked up. Where the system does not tell them (anywhere but on Linux), only the process itself is
    asked.
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
    """The processes below one; none where the system does not tell."""
    try:
        below = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [found for child in below for found in (*descendants(child), child)]
