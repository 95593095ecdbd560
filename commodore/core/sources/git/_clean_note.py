"""Notes about clean working copies, so that they are recognized by the times of their files without starting git.

The note is trusted as git trusts its index, and more strictly: every file's kind, size, inode, time of change and time
of modification must be as they were, and so must HEAD and the index. A file that was written shortly before the note
could be written again within the same tick of the clock, so a note about such a file is not made.
"""

from __future__ import annotations

import hashlib
import os
import time

from commodore.base.files.tree import walk
from commodore.base.files.workspace import write_atomically
from commodore.base.limits import Limits
from commodore.core.sources.git._worktree_files import WorktreeFiles, read_worktree

_NOTE = "commodore-clean"


class WorktreeSnapshot:
    """The state of the files of a linked worktree that is detached at a commit.

    Take it before git runs, so that changes made while git runs do not get into the note.
    """

    def __init__(self, files: WorktreeFiles, limits: Limits) -> None:
        self._folder = files.folder
        self._limits = limits
        self._note = files.admin / _NOTE
        self._newest = 0
        self._settled = int(limits.settled_seconds * 1e9)
        self._seen: str | None = None
        if files.sha is not None:
            try:
                self._seen = self._digest(files, limits.clean_files)
            except OSError:  # a file that is removed meanwhile
                self._seen = None

    @property
    def known_clean(self) -> bool:
        """Check if git has reported this exact state as clean."""
        try:
            return self._seen is not None and self._note.read_text(encoding="ascii") == self._seen
        except (OSError, UnicodeDecodeError):
            return False

    def note_clean(self) -> None:
        """Note that git has just reported no changes."""
        if self._seen is not None and time.time_ns() - self._newest > self._settled:
            write_atomically(self._note, self._seen.encode())

    def note_later(self) -> None:
        """Note that the worktree was clean at the time of the snapshot, if everything is still as it was.

        For files that git has just written: a note made at once would not be trusted, as the files are too new.
        """
        files = read_worktree(self._folder)
        now = WorktreeSnapshot(files, self._limits) if files is not None else None
        if now is not None and now._seen == self._seen:
            now.note_clean()

    def _digest(self, files: WorktreeFiles, most: int) -> str | None:
        digest = hashlib.sha256(f"1 {files.sha} {files.folder.absolute()}\n".encode("utf-8", "surrogateescape"))
        repository = str(files.folder / ".git")
        self._add(digest, str(files.admin / "index"))
        for seen, (_, entry) in enumerate(walk(files.folder, skip=lambda entry: entry.path == repository)):
            if seen >= most:
                return None
            self._add(digest, entry.path)
        return digest.hexdigest()

    def _add(self, digest: hashlib._Hash, path: str) -> None:
        status = os.lstat(path)
        times = (status.st_mtime_ns, status.st_ctime_ns)
        self._newest = max(self._newest, *times)
        text = f"{path}\0{status.st_mode} {status.st_size} {status.st_ino} {status.st_dev} {times}\n"
        digest.update(text.encode("utf-8", "surrogateescape"))
