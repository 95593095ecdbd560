"""Check if a tree is installed already, so that nothing needs to be copied, staged or compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from commodore.base.files.tree import files, walk
from commodore.base.files.workspace import guard_disk


def holds(folder: Path, expected: Mapping[str, Path]) -> bool:
    """Check if a folder has exactly these files (path below it -> file with the content).

    Modes are compared as git stores them. A folder with links, or with hidden entries at its top, is never the same.
    """
    with guard_disk(folder):
        if folder.is_symlink() or not folder.is_dir():
            return False
        present = _plain_files(folder)
        if present is None or present.keys() != expected.keys():
            return False
        return all(_equal(folder / path, present[path], source) for path, source in expected.items())


def files_of(folder: Path) -> dict[str, Path]:
    """Return all files below a folder by their paths."""
    return {name: path for name, path in files(folder, links=True) if path.is_file()}


def _plain_files(folder: Path) -> dict[str, os.stat_result] | None:
    """Return the files below a folder; None if it has entries other than plain files and folders with files."""
    plain: dict[str, os.stat_result] = {}
    empty: set[str] = set()
    for name, entry in walk(folder):
        if entry.is_symlink() or name.startswith("."):
            return None
        empty.discard(os.path.dirname(name))
        if entry.is_dir():
            empty.add(name)
        elif entry.is_file():
            plain[name] = entry.stat(follow_symlinks=False)
        else:
            return None
    return None if empty else plain


def _equal(path: Path, status: os.stat_result, source: Path) -> bool:
    other = source.stat()
    return (
        stat.S_IMODE(status.st_mode) == (0o755 if other.st_mode & stat.S_IXUSR else 0o644)
        and status.st_size == other.st_size
        and path.read_bytes() == source.read_bytes()
    )
