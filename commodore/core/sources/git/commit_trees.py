"""Cache of checked-out commits, so that repeated analyses of a branch's base need no checkout.

Unlike other entries these are read in place, so a reader holds its entry by a lock on the folder, and a held entry is
not removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.files.tree import Measure, Rules, measure
from commodore.core.results.caches.entry_store import ABOUT, TreeStore, digest_folders
from commodore.core.sources.git._export import check_out_tree


class HeldTree:
    """The files of a commit, kept as long as this object exists.

    Attributes:
        folder: the folder of the files, which must not be changed.
    """

    def __init__(self, folder: Path, handle: int) -> None:
        self.folder = folder
        self._handle = handle

    def __del__(self) -> None:
        os.close(self._handle)


class CommitTrees(TreeStore):
    """Folders with the files of commits, as `check_out_tree` writes them. Only the most recently used ones are kept.

    Args:
        root: the folder of the store; it need not exist.
    """

    def __init__(self, root: Path, context: Context) -> None:
        limits = context.limits
        super().__init__("trees", root, limits, Rules(entries=limits.cached_files, bytes=limits.cached_bytes))
        self._context = context

    def find(self, repository: Path, commit: str) -> HeldTree | None:
        """Return the verified files of a commit; None if they cannot be stored: there are too many, or the disk or git
        fails.
        """
        name = json.dumps([os.path.realpath(repository), commit])
        place = self.place(hashlib.sha256(name.encode()).hexdigest())
        held = self._held(place)
        if held is not None:
            return held

        def fill(folder: Path) -> Measure:
            check_out_tree(repository, commit, folder, self._context)
            return measure(folder, None, self.rules)

        try:
            self.add(place, fill, {"commit": commit})
        except (EnvironmentFault, OSError):
            return None
        held = self._held(place)
        self._shrink()
        return held

    def _held(self, place: Path) -> HeldTree | None:
        handle = _locked(place, fcntl.LOCK_SH)
        if handle is None:
            return None
        held = HeldTree(place / "content", handle)
        if self.holds(place, held.folder):
            self.note_use(place)
            return held
        del held
        self.evict(place)
        return None

    def _shrink(self) -> None:
        """Remove the least recently used entries beyond the number that is kept."""
        uses = sorted(self._uses(), reverse=True)
        for _, place in uses[self.limits.kept_trees :]:
            with contextlib.suppress(EnvironmentFault):
                self.remove(place)

    def _uses(self) -> Iterator[tuple[float, Path]]:
        for place in digest_folders(self.root):
            with contextlib.suppress(OSError):
                yield (place / ABOUT).stat().st_mtime, place

    def remove(self, path: Path) -> bool:
        """Remove an entry without readers. Returns False if it is being read, or was gone already.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        handle = _locked(path, fcntl.LOCK_EX)
        if handle is None:
            return False
        try:
            return super().remove(path)
        finally:
            os.close(handle)


def _locked(place: Path, kind: int) -> int | None:
    """Lock the folder that is at a path now; None if it does not exist, or another process holds it."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(place)):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None
