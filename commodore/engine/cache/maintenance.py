"""Care for what the engine keeps for other runs: whether it is what was written, and that it does not grow for ever.

Everything here may happen while other runs read and write: what is removed is missing for them, and made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commodore.engine.cache.dependencies import is_sound_entry
from commodore.engine.cache.remote_identity import read_download
from commodore.engine.cache.result_store import read_kept
from commodore.errors import EnvironmentFault
from commodore.limits import Limits
from commodore.workspace import write_atomically

_HEX = re.compile(r"[0-9a-f]{64}")
_STAMP = "checked"
_SHAPES = "shapes"


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A result in the store: its file, its size in bytes, and when it was last used (seconds since 1970)."""

    path: Path
    bytes: int
    used: float


def kept_results(root: Path) -> Iterator[KeptResult]:
    """All results in a store. Links are not followed."""
    for subject in _subjects(root):
        for entry in _entries(subject):
            name, _, suffix = entry.name.partition(".")
            if suffix == "result" and _HEX.fullmatch(name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield KeptResult(Path(entry.path), status.st_size, status.st_mtime)


def kept_shapes(root: Path) -> Iterator[Path]:
    """All lists of what results have read. Links are not followed."""
    for subject in _subjects(root):
        for entry in _entries(subject / _SHAPES):
            if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def is_sound_result(path: Path) -> bool:
    """Whether a result, or the list of what results have read, is what was written there."""
    return read_kept(path) is not None


def is_sound_dependency(entry: Path, limits: Limits) -> bool:
    """Whether a chart or a folder of a commit is what was kept, under the name that it belongs to."""
    return is_sound_entry(entry, limits)


def is_sound_download(entry: Path) -> bool:
    """Whether a kept file of a web server, and what else was kept of that address, is what was downloaded."""
    try:
        about = read_download(entry)
        names = [one.name for one in os.scandir(entry) if _HEX.fullmatch(one.name)]
        digests = {name: hashlib.sha256((entry / name).read_bytes()).hexdigest() for name in names}
        return about["digest"] in names and all(name == digest for name, digest in digests.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def keep_bounded(root: Path, limits: Limits) -> None:
    """Remove the results that were used least recently if there are too many, at most once in a while.

    Otherwise it costs one look at a file. A disk that refuses is not reported: no caller depends on this.
    """
    stamp = root / _STAMP
    with contextlib.suppress(OSError):
        if 0 <= time.time() - stamp.stat().st_mtime < limits.result_check_age:
            return
    with contextlib.suppress(OSError, EnvironmentFault):
        write_atomically(stamp, b"")
        os.utime(stamp)
        excess = sorted(kept_results(root), key=lambda one: one.used, reverse=True)
        kept = 0
        for one in excess:
            kept += one.bytes
            if kept > limits.result_cache_bytes:
                remove_result(one)
        tidy_results(root, limits)


def remove_result(result: KeptResult) -> bool:
    """Remove a result, unless it was used since it was looked at. Returns whether it is gone.

    Raises:
        OSError: it cannot be removed.
    """
    try:
        if result.path.lstat().st_mtime != result.used:
            return False
        result.path.unlink()
    except FileNotFoundError:
        return False
    return True


def tidy_results(root: Path, limits: Limits) -> None:
    """Remove lists that belong to no result any more, and what killed runs have left half written."""
    for subject in list(_subjects(root)):
        names = [entry.name for entry in _entries(subject)]
        for folder in (subject, subject / _SHAPES):
            _remove_leftovers(folder, limits)
        if any(name.endswith(".result") for name in names):
            continue
        with contextlib.suppress(OSError):  # another run may be about to keep a result there
            for path in [Path(entry.path) for entry in _entries(subject / _SHAPES)]:
                path.unlink()
            for folder in (subject / _SHAPES, subject, subject.parent):
                folder.rmdir()


def _remove_leftovers(folder: Path, limits: Limits) -> None:
    for entry in _entries(folder):
        if entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
            with contextlib.suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > limits.staging_age:
                    os.unlink(entry.path)


def _subjects(root: Path) -> Iterator[Path]:
    for group in _entries(root):
        if len(group.name) == 2 and group.is_dir(follow_symlinks=False):
            for subject in _entries(Path(group.path)):
                if _HEX.fullmatch(subject.name) and subject.is_dir(follow_symlinks=False):
                    yield Path(subject.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, in name order; nothing if it is gone or is a link."""
    with contextlib.suppress(OSError):
        if not folder.is_symlink():
            with os.scandir(folder) as found:
                return sorted(found, key=lambda entry: entry.name)
    return []
