"""Which files differ between two trees: deleted, added, renamed, modified."""

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

# Similarity is counted in lines; longer ones in pieces, so that one long line can still be similar to another.
_CHUNK: Final = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs.

    Attributes:
        kind: what happened to it.
        old_path: its path in the old tree, relative, with slashes; the path it has when it was added.
        new_path: its path in the new tree; the path it had when it was deleted.
        similarity: percent of the content that stayed, for renamed and copied files; 100 for unchanged content.
    """

    kind: ChangeKind
    old_path: str
    new_path: str
    similarity: float = 0.0

    @classmethod
    def of_git(cls, status: str, path: str, new_path: str | None = None) -> FileChange:
        """One entry of `git diff --raw` or `--name-status`.

        Args:
            status: git's letter, with the similarity in percent for renamed and copied files: `M`, `R087`.
            path: the path, or the old one of two.
            new_path: the new one of two paths.

        Raises:
            ValueError: for a status that is no change between two trees, such as `U` for a merge conflict.
        """
        kind = _GIT_STATUS.get(status[:1])
        if kind is None:
            raise ValueError(f"git status {status!r} is no change between two trees")
        return cls(kind, path, path if new_path is None else new_path, float(status[1:] or 0))


@dataclass(frozen=True, slots=True)
class TreeChange:
    """Everything that differs between two trees, in the order in which it is shown."""

    files: tuple[FileChange, ...]

    @classmethod
    def of(cls, changes: Iterable[FileChange]) -> TreeChange:
        """Group changes by kind, in the order of `KINDS`, each group by path."""
        return cls(tuple(sorted(changes, key=lambda change: (KINDS.index(change.kind), change.old_path))))

    def __bool__(self) -> bool:
        return bool(self.files)


def compare_trees(old: Mapping[str, bytes], new: Mapping[str, bytes], limits: Limits) -> TreeChange:
    """What differs between two trees, with renames detected as git does by default.

    Args:
        old: content by path.
        new: the same; either may read its values lazily.
        limits: with more than `rename_pairs` pairs of removed and added files only unchanged content is recognised.
    """
    # Sets, because asking a lazy mapping for a key may read its value.
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
    """Files that only moved; of several with one content those that keep their file name come first."""
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
    """Files that moved and changed: the most similar pairs first."""
    old_chunks = {path: Counter(_CHUNK.findall(content)) for path, content in removed.items()}
    new_chunks = {path: Counter(_CHUNK.findall(content)) for path, content in added.items()}
    pairs: list[tuple[float, bool, str, str]] = []
    for path, chunks in old_chunks.items():
        for target, others in new_chunks.items():
            sizes = sorted((len(removed[path]), len(added[target])))
            # The smaller file cannot share more than all of itself.
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
    """Of pairs that end with an old and a new path the first that names each of them."""
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
