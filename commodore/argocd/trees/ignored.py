"""The files of a checkout that git ignores, and that Argo CD's clone therefore does not have."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Collection
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.core.sources.git import Git

_LIST_FILES = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


class IgnoredFiles:
    """The untracked files of a checkout that git ignores. They are listed once, on first use.

    Args:
        root: the folder of the checkout.
        scanned: the folder that the user names. If git ignores all of it, nothing counts as ignored.
    """

    def __init__(self, root: Path, context: Context, scanned: Path | None = None) -> None:
        self._root = root
        self._context = context
        self._scanned = scanned
        self._lock = threading.Lock()
        self._paths: frozenset[str] | None = None

    def within(self, scanned: Path) -> IgnoredFiles:
        """Return the ignored files of the same checkout for a scan of one of its folders."""
        return IgnoredFiles(self._root, self._context, scanned)

    def paths(self) -> frozenset[str]:
        """Return absolute paths of files, and of folders that are ignored as a whole."""
        with self._lock:
            if self._paths is None:
                paths = self._listed()
                named = str(self._scanned or self._root)
                self._paths = frozenset() if covers(paths, named) else paths
            return self._paths

    def _listed(self) -> frozenset[str]:
        try:
            answer = Git(self._root, self._context).run(_LIST_FILES, check=False)
        except CommodoreError:
            return frozenset()
        if answer.returncode != 0:
            return frozenset()
        names = answer.stdout.decode("utf-8", "surrogateescape").split("\0")
        return frozenset(f"{self._root}/{name.rstrip('/')}" for name in names if name)


def covers(ignored: Collection[str], path: str) -> bool:
    """Check if a path, or a folder above it, is ignored."""
    if not ignored:
        return False
    while path not in ignored:
        above = posixpath.dirname(path)
        if above == path:
            return False
        path = above
    return True
