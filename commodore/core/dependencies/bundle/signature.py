"""Signature of a folder, to detect changes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from commodore.base.files.tree import walk


def signature(folder: Path, skip: Path) -> str:
    """A cheap fingerprint (hex SHA-256) of names, kinds, modes, sizes, times and link targets below `folder`. The time
    of change (ctime) detects edits that keep a file's size and time of modification.

    It changes if the folder was modified; contents are not read, and the file `skip` is ignored.
    """
    seen = hashlib.sha256()
    unseen = os.fspath(skip)
    for path, entry in walk(folder):
        if entry.path == unseen:
            continue
        name = os.fsencode(path)
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            detail = os.fsencode(os.readlink(entry.path))
        elif stat.S_ISREG(status.st_mode):
            times = (status.st_mtime_ns, status.st_ctime_ns)
            detail = b"%d/%d/%d/%o" % (status.st_size, *times, status.st_mode)
        else:
            detail = b""
        seen.update(b"%o:%d:%s%d:%s" % (stat.S_IFMT(status.st_mode), len(name), name, len(detail), detail))
    return seen.hexdigest()
