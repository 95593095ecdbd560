"""Whether a tree that would be installed is there already, so that nothing needs to be copied, staged or compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from commodore.workspace import guard_disk


def holds(folder: Path, wanted: Mapping[str, Path]) -> bool:
    """Whether a folder holds these files (path below it -> file with the content) and nothing else.

    Modes count as git sees them. A folder with links in it, or with hidden entries at its top, is never the same.
    """
    with guard_disk(folder):
        if folder.is_symlink() or not folder.is_dir():
            return False
        found: dict[str, os.stat_result] = {}
        if not _collect(folder, "", found) or found.keys() != wanted.keys():
            return False
        return all(_equal(folder / path, found[path], source) for path, source in wanted.items())


def files_of(folder: Path) -> dict[str, Path]:
    """All files below a folder by their paths."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _collect(folder: Path, prefix: str, found: dict[str, os.stat_result]) -> bool:
    """Add the files below `folder`; False if something is there that is neither a plain file nor a folder of some."""
    empty = True
    with os.scandir(folder) as entries:
        for entry in entries:
            empty = False
            if entry.is_symlink() or (not prefix and entry.name.startswith(".")):
                return False
            if entry.is_dir(follow_symlinks=False):
                if not _collect(Path(entry.path), f"{prefix}{entry.name}/", found):
                    return False
            elif entry.is_file(follow_symlinks=False):
                found[f"{prefix}{entry.name}"] = entry.stat(follow_symlinks=False)
            else:
                return False
    return not (empty and prefix)


def _equal(path: Path, status: os.stat_result, source: Path) -> bool:
    other = source.stat()
    return (
        stat.S_IMODE(status.st_mode) == (0o755 if other.st_mode & stat.S_IXUSR else 0o644)
        and status.st_size == other.st_size
        and path.read_bytes() == source.read_bytes()
    )
