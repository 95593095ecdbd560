"""Folders for unfinished work, and the removal of folders that killed processes have left.

The process that creates such a folder locks the folder itself, and the operating system releases the lock when the
process ends in any way. So the next run recognizes abandoned folders of any age, and never removes a folder in use.
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
"""The infix of the names of locked folders, whose lock shows that a process uses them."""

_TEMPORARY = "commodore-"


@contextlib.contextmanager
def staging(root: Path, prefix: str, age: float | None) -> Iterator[Path]:
    """A new folder in `root` for this user only, removed afterwards; abandoned ones are removed first.

    Args:
        root: created for this user only if it is missing, with its parents.
        prefix: the prefix of the name.
        age: the age in seconds at which folders without a lock are removed; None: never.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with guard_disk(root):
        make_private(root)
    with _fresh(root, prefix, age) as folder:
        yield folder


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder in the system's temporary folder, without links in its path; see `staging`.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with _fresh(Path(tempfile.gettempdir()), _TEMPORARY, age=None) as folder:
        yield folder.resolve()


@contextlib.contextmanager
def _fresh(root: Path, prefix: str, age: float | None) -> Iterator[Path]:
    with guard_disk(root):
        sweep(root, prefix, age)
    made: list[Path] = []  # recorded before creation, so that Ctrl-C at any time leaves no folder
    handle: int | None = None
    try:
        try:
            with guard_disk(root):
                handle = _make(root, prefix, made)
            yield made[-1]
        finally:
            _remove(made)
    except KeyboardInterrupt:  # also during the removal
        _remove(made)
        raise
    finally:
        if handle is not None:
            os.close(handle)


def _remove(made: list[Path]) -> None:
    for folder in made:
        with contextlib.suppress(CommodoreError):  # then it is abandoned, and the next run removes it
            remove_tree(folder)


def sweep(root: Path, prefix: str, age: float | None, now: float | None = None) -> None:
    """Remove this user's abandoned folders in `root`. Errors of the operating system are ignored.

    Args:
        prefix, age: as for `staging`.
        now: seconds since 1970, by default the current time.
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
    """Create a folder and lock it; None without locks.

    Args:
        made: set to the folder before its creation, and empty afterwards on failure.
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
    """Create a folder with a unique name, for this user only."""
    while True:
        folder = root / f"{prefix}{secrets.token_hex(4)}"
        if os.path.lexists(folder):
            continue
        made.append(folder)
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:  # created by another process meanwhile
            made.remove(folder)
        else:
            return folder


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder unless a process holds it.

    Raises:
        BlockingIOError: a process holds it.
    """
    handle = _hold(folder)
    try:
        remove_tree(folder)
    finally:
        os.close(handle)


def _hold(folder: Path) -> int:
    """Lock a folder, unless it is locked.

    Raises:
        BlockingIOError: it is locked.
        OSError: it is missing, or cannot be locked.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle
