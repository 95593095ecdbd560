"""File locks, held by one process at a time."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

_PAUSE = 0.05  # seconds between two attempts
_HOLDER_BYTES = 4096  # the most bytes read to identify the holder


class HeldElsewhere(Exception):
    """Another process holds the file. `holder` identifies it, as `pid 12, since 2026-01-31T10:00:00+00:00`, or is
    empty.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class FileLock:
    """A file locked until the end of a `with` block.

    The operating system releases it when the process ends in any way. Another lock of the same process does not get it
    either. A process that inherits the file's `handle` holds it, too, until it ends.
    """

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.handle)


def hold(path: Path, *, wait: float, signed: bool = False, waiting: Callable[[], None] | None = None) -> FileLock:
    """Lock the file at `path`, which is created for this user only if it is missing; its folder must exist.

    Args:
        wait: the most seconds to wait for another holder; 0 fails at once, `math.inf` never.
        signed: write the pid and the time into the file, for other processes that want the lock.
        waiting: called once, when the lock is held by another process and the wait begins.

    The holder may remove the file, and its folder: waiting processes then lock its replacement.

    Raises:
        HeldElsewhere: another process held it all the time.
        OSError: the operating system refused, for example because `path` is a link.
    """
    deadline = time.monotonic() + wait
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _acquire(handle, deadline, waiting)
            if _is_at(handle, path):
                break
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its holder has removed it: others may hold its replacement
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if signed:
            holder = {"pid": os.getpid(), "started": datetime.now(UTC).isoformat(timespec="seconds")}
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(holder).encode(), 0)
    except BaseException:
        os.close(handle)
        raise
    return FileLock(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _acquire(handle: int, deadline: float, waiting: Callable[[], None] | None) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise HeldElsewhere(_read_holder(handle)) from None
        if waiting is not None:
            waiting()
            waiting = None
        time.sleep(_PAUSE)


def _read_holder(handle: int) -> str:
    try:
        holder = json.loads(os.pread(handle, _HOLDER_BYTES, 0))
        return f"pid {int(holder['pid'])}, since {datetime.fromisoformat(holder['started']).isoformat()}"
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return ""
