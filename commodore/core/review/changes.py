"""The files that differ between two trees: deleted, added, renamed, modified."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal, TypeVar

from commodore.base.limits import Limits

ChangeKind = Literal["deleted", "copied", "added", "renamed", "modified", "type-changed"]

#: The order in which changes are shown.
KINDS: Final[tuple[ChangeKind, ...]] = ("deleted", "copied", "added", "renamed", "modified", "type-changed")

#: Files at least this similar, in percent, count as one renamed file: git's default.
RENAME_SIMILARITY: Final = 50.0

_GIT_STATUS: Final[dict[str, ChangeKind]] = {
    "D": "deleted",
    "C": "copied",
    "A": "added",
    "R": "renamed",
    "M": "modified",
    "T": "type-changed",
}

_Pair = TypeVar("_Pair", bound=tuple[object, ...])

# Similarity is counted in lines; longer lines are split, so that two long lines can be similar.
_CHUNK: Final = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs.

    Attributes:
        kind: the kind of change.
        old_path: its path in the old tree, relative, with slashes; for an added file its new path.
        new_path: its path in the new tree; for a deleted file its old path.
        similarity: unchanged content in percent, for renamed and copied files; 100 for unchanged content.
    """

    kind: ChangeKind
    old_path: str
    new_path: str
    similarity: float = 0.0

    @classmethod
    def of_git(cls, status: str, path: str, new_path: str | None = None) -> FileChange:
        """Parse an entry of `git diff --raw` or `--name-status`.

        Args:
            status: git's letter, with the similarity in percent for renamed and copied files: `M`, `R087`.
            path: the path, or the old path of two.
            new_path: the new path of two.

        Raises:
            ValueError: the status is not a change between two trees, such as `U` for a merge conflict.
        """
        kind = _GIT_STATUS.get(status[:1])
        if kind is None:
            raise ValueError(f"unexpected git status {status!r} in a comparison of two trees")
        return cls(kind, path, path if new_path is None else new_path, float(status[1:] or 0))


@dataclass(frozen=True, slots=True)
class TreeChange:
    """All differences between two trees, in display order."""

    files: tuple[FileChange, ...]

    @classmethod
    def of(cls, changes: Iterable[FileChange]) -> TreeChange:
        """Sort changes by kind, in the order of `KINDS`, and by path."""
        return cls(tuple(sorted(changes, key=lambda change: (KINDS.index(change.kind), change.old_path))))

    def __bool__(self) -> bool:
        return bool(self.files)


def compare_trees(old: Mapping[str, bytes], new: Mapping[str, bytes], limits: Limits) -> TreeChange:
    """Compare two trees, with renames detected as by git's defaults.

    Args:
        old: content by path.
        new: the same; either may read its values lazily.
        limits: with more than `rename_pairs` pairs of removed and added files only renames with unchanged content are
            detected.
    """
    # Sets, because a lookup in a lazy mapping may read the value.
    old_paths, new_paths = set(old), set(new)
    modified = [FileChange("modified", path, path) for path in sorted(old_paths & new_paths) if old[path] != new[path]]
    removed = {path: old[path] for path in sorted(old_paths - new_paths)}
    added = {path: new[path] for path in sorted(new_paths - old_paths)}
    renamed = _unchanged_renames(removed, added)
    _take(renamed, removed, added)
    if len(removed) * len(added) <= limits.rename_pairs:
        similar = _similar_renames(removed, added)
        _take(similar, removed, added)
        renamed += similar
    deleted = [FileChange("deleted", path, path) for path in removed]
    return TreeChange.of([*deleted, *(FileChange("added", path, path) for path in added), *renamed, *modified])


def _take(renamed: list[FileChange], removed: dict[str, bytes], added: dict[str, bytes]) -> None:
    for change in renamed:
        del removed[change.old_path]
        del added[change.new_path]


def _unchanged_renames(removed: Mapping[str, bytes], added: Mapping[str, bytes]) -> list[FileChange]:
    """Return renames with equal content; of several candidates, the ones that keep their file name come first."""
    sources: dict[bytes, list[str]] = {}
    for path, content in removed.items():
        sources.setdefault(hashlib.sha256(content).digest(), []).append(path)
    pairs = [
        (not _same_name(path, target), path, target)
        for target, content in added.items()
        for path in sources.get(hashlib.sha256(content).digest(), ())
    ]
    return [FileChange("renamed", path, target, 100.0) for _, path, target in _first_of_each(sorted(pairs))]


def _similar_renames(removed: Mapping[str, bytes], added: Mapping[str, bytes]) -> list[FileChange]:
    """Return renames with changed content, the most similar pairs first."""
    old_chunks = {path: Counter(_CHUNK.findall(content)) for path, content in removed.items()}
    new_chunks = {path: Counter(_CHUNK.findall(content)) for path, content in added.items()}
    pairs: list[tuple[float, bool, str, str]] = []
    for path, chunks in old_chunks.items():
        for target, others in new_chunks.items():
            sizes = sorted((len(removed[path]), len(added[target])))
            # The common part cannot be larger than the smaller file.
            if sizes[0] * 100 < sizes[1] * RENAME_SIMILARITY or not sizes[1]:
                continue
            common = sum(min(count, others[chunk]) * len(chunk) for chunk, count in chunks.items() if chunk in others)
            similarity = common * 100 / sizes[1]
            if similarity >= RENAME_SIMILARITY:
                pairs.append((-similarity, not _same_name(path, target), path, target))
    return [
        FileChange("renamed", path, target, -similarity)
        for similarity, _, path, target in _first_of_each(sorted(pairs))
    ]


def _first_of_each(pairs: Iterable[_Pair]) -> list[_Pair]:
    """Return the first pair with each old and each new path."""
    chosen = []
    seen_old: set[object] = set()
    seen_new: set[object] = set()
    for pair in pairs:
        path, target = pair[-2:]
        if path not in seen_old and target not in seen_new:
            seen_old.add(path)
            seen_new.add(target)
            chosen.append(pair)
    return chosen


def _same_name(path: str, target: str) -> bool:
    return PurePosixPath(path).name == PurePosixPath(target).name
