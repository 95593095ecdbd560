"""Staged changes as diff lines and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commodore.base.context import Context
from commodore.core.review.changes import ChangeKind, FileChange, TreeChange
from commodore.core.review.diff import DiffMode, render
from commodore.core.review.textdiff import DiffLine
from commodore.core.sources.git import RawChange, read_blobs

_SUBMODULE: Final = "160000"


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """Counts of changed files by kind."""

    deleted: int = 0
    copied: int = 0
    added: int = 0
    renamed: int = 0
    modified: int = 0
    type_changed: int = 0

    @classmethod
    def of(cls, change: TreeChange) -> ChangeSummary:
        """Count the files of a change."""
        counts = Counter(file.kind for file in change.files)
        return cls(
            deleted=counts["deleted"],
            copied=counts["copied"],
            added=counts["added"],
            renamed=counts["renamed"],
            modified=counts["modified"],
            type_changed=counts["type-changed"],
        )

    @property
    def total(self) -> int:
        """The number of all changed files."""
        return self.deleted + self.copied + self.added + self.renamed + self.modified + self.type_changed

    def __str__(self) -> str:
        """`3 added, 1 modified`; `no changes` for none."""
        counts = {
            "added": self.added,
            "copied": self.copied,
            "deleted": self.deleted,
            "modified": self.modified,
            "renamed": self.renamed,
            "changed in type": self.type_changed,
        }
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "no changes"


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The diff of a file: its new path, or the old path of a deleted file, and the lines."""

    kind: ChangeKind
    path: str
    lines: tuple[DiffLine, ...]


def describe(
    folder: Path, changes: Sequence[RawChange], context: Context, mode: DiffMode = "plain"
) -> tuple[tuple[FileDiff, ...], ChangeSummary]:
    """Return the diffs of the clone's staged changes, and their counts.

    Only the contents of modified files are read, all by a single git process.

    Args:
        folder: the clone.
        changes: from `commodore.core.sources.git.staged_changes`.
        mode: the comparison of modified files.

    Raises:
        EnvironmentFault: git fails.
    """
    change = TreeChange.of(_file_change(raw) for raw in changes)
    modified = [raw for raw in changes if raw.status == "M"]
    ids = {blob for raw in modified for blob in (raw.old_blob, raw.new_blob) if blob and not _is_submodule(raw)}
    blobs = read_blobs(folder, ids, context)
    old, new = {}, {}
    for raw in modified:
        assert raw.old_path is not None
        assert raw.new_path is not None
        old[raw.old_path] = _content(raw, raw.old_blob, blobs)
        new[raw.new_path] = _content(raw, raw.new_blob, blobs)
    files = (
        FileDiff(file.kind, file.new_path, tuple(render(TreeChange((file,)), old, new, context.limits, mode)))
        for file in change.files
    )
    return tuple(files), ChangeSummary.of(change)


def _file_change(raw: RawChange) -> FileChange:
    path = raw.old_path if raw.old_path is not None else raw.new_path
    assert path is not None
    similarity = "" if raw.similarity is None else str(raw.similarity)
    return FileChange.of_git(f"{raw.status}{similarity}", path, raw.new_path if raw.status in "RC" else None)


def _is_submodule(raw: RawChange) -> bool:
    return _SUBMODULE in (raw.old_mode, raw.new_mode)


def _content(raw: RawChange, blob: str | None, blobs: dict[str, bytes]) -> bytes:
    """Return a file's content; for a submodule the line that git shows."""
    assert blob is not None
    return f"Subproject commit {blob}\n".encode() if _is_submodule(raw) else blobs[blob]
