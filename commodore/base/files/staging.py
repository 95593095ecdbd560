"""Folders in which something is made beside its place, or taken apart, and what killed processes have left of them.

The process that makes such a folder holds it by a lock on the folder itself, which the operating system frees when the
process ends, however it ends. So the next run knows what is abandoned, however young it is, and never takes away what
a process works in, however old it is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from commodore.base.errors import CommodoreError
from commodore.base.files.tree import children
from commodore.base.files.workspace import guard_disk, make_private, remove_tree

_HELD = "held-"
"""What the name of a folder goes on with whose lock tells whether a process works in it."""

_TEMPORARY = "commodore-"


@contextlib.contextmanager
def staging(root: Path, prefix: str, age: float | None) -> Iterator[Path]:
    """A fresh folder in `root`, for this user alone, removed afterwards; what is abandoned there goes first.

    Args:
        root: made if it is not there, for this user alone, as are missing folders above it.
        prefix: how the name begins.
        age: after how many seconds folders go that have no lock; None: never.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with guard_disk(root):
        make_private(root)
    with _fresh(root, prefix, age) as folder:
        yield folder


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A fresh folder below the one for temporary files, without links in its path; see `staging`.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with _fresh(Path(tempfile.gettempdir()), _TEMPORARY, age=None) as folder:
        yield folder.resolve()


@contextlib.contextmanager
def _fresh(root: Path, prefix: str, age: float | None) -> Iterator[Path]:
    with guard_disk(root):
        sweep(root, prefix, age)
    made: list[Path] = []  # named before they are made, so that Ctrl-C at any moment leaves none
    handle: int | None = None
    try:
        try:
            with guard_disk(root):
                handle = _make(root, prefix, made)
            yield made[-1]
        finally:
            _remove(made)
    except KeyboardInterrupt:  # also while it was at it
        _remove(made)
        raise
    finally:
        if handle is not None:
            os.close(handle)


def _remove(made: list[Path]) -> None:
    for folder in made:
        with contextlib.suppress(CommodoreError):  # it is abandoned then, and the next run removes it
            remove_tree(folder)


def sweep(root: Path, prefix: str, age: float | None, now: float | None = None) -> None:
    """Remove this user's abandoned folders in `root`. What the operating system refuses stays.

    Args:
        prefix, age: as for `staging`.
        now: seconds since 1970, by default this moment.
    """
    now = time.time() if now is None else now
    with contextlib.suppress(OSError):
        for entry in children(root):
            if not entry.name.startswith(prefix) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError, CommodoreError):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid != os.geteuid():
                    continue
                if entry.name.startswith(prefix + _HELD):
                    _remove_abandoned(Path(entry.path))
                elif age is not None and now - status.st_mtime > age:
                    remove_tree(Path(entry.path))


def _make(root: Path, prefix: str, made: list[Path]) -> int | None:
    """Make a folder and hold it; None without locks.

    Args:
        made: gets the folder, before it is there. What is in it besides is gone.
    """
    while True:
        folder = _new(root, prefix + _HELD, made)
        try:
            handle = _hold(folder)
        except (BlockingIOError, FileNotFoundError):
            made.remove(folder)
            continue  # another sweeping process was faster
        except OSError:  # this file system has no locks
            folder.rmdir()
            made.remove(folder)
            _new(root, prefix, made)
            return None
        if folder.is_dir():
            return handle
        os.close(handle)
        made.remove(folder)


def _new(root: Path, prefix: str, made: list[Path]) -> Path:
    """A folder with a name that no other has, for this user alone."""
    while True:
        folder = root / f"{prefix}{secrets.token_hex(4)}"
        if os.path.lexists(folder):
            continue
        made.append(folder)
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:  # made by another process since
            made.remove(folder)
        else:
            return folder


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder unless a process holds it.

    Raises:
        BlockingIOError: a process does.
    """
    handle = _hold(folder)
    try:
        remove_tree(folder)
    finally:
        os.close(handle)


def _hold(folder: Path) -> int:
    """Lock a folder, if it is not locked.

    Raises:
        BlockingIOError: it is locked.
        OSError: it is gone, or cannot be locked.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle
