"""Equal changes of several clusters or cells, each shown once."""

from __future__ import annotations

import hashlib
import json
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from commodore.core.review.masking import mask_text
from commodore.core.review.placeholders import Placeholders

if TYPE_CHECKING:
    from commodore.core.review.file_changes import FileDiff

_LINES = 400  # the most diff lines kept of a change
_ID = 12  # digits


@dataclass(frozen=True, slots=True)
class Hunk:
    """The change of a file in a cluster.

    Attributes:
        id: equal for changes that differ only in values of their clusters.
        kind: the kind of change: `added`, `deleted`, `modified`, `renamed` or another.
        values: the cluster's values that occur in it, by name (`cluster.name`).
        path: the path of the file.
        normalised: the path with placeholders for the values.
        diff: its lines, as pairs of style and text; likely secrets are masked.
        left_out: the number of further lines.
    """

    id: str
    values: Mapping[str, str]
    kind: str = ""
    path: str = ""
    normalised: str = ""
    diff: tuple[tuple[str, str], ...] = ()
    left_out: int = 0

    @classmethod
    def of(cls, file: FileDiff, placeholders: Placeholders) -> Hunk:
        values: dict[str, str] = {}
        path = placeholders(file.path, values)
        lines = ["@@" if line.style == "hunk" else placeholders(line.text, values) for line in file.lines]
        digest = hashlib.sha256(json.dumps([file.kind, path, lines]).encode()).hexdigest()
        shown = tuple((line.style, _masked(line.text)) for line in file.lines[:_LINES])
        return cls(digest[:_ID], values, file.kind, file.path, path, shown, max(0, len(file.lines) - _LINES))


def _masked(line: str) -> str:
    return line[:1] + mask_text(line[1:])


_COLUMNS = tuple(column.name for column in fields(Hunk))


@dataclass(frozen=True, slots=True)
class FileGroup(Hunk):
    """A common change of several clusters or cells, as it is in the first of them.

    Attributes:
        clusters: the clusters that have it, in order.
        differs_in: the names of the values that differ between clusters.
        example: the first cluster or cell, whose change is shown.
    """

    clusters: list[str] = field(default_factory=list)
    differs_in: set[str] = field(default_factory=set)
    example: str = ""

    @classmethod
    def begun(cls, hunk: Hunk, example: str) -> FileGroup:
        """Return a group without clusters."""
        return cls(**{name: getattr(hunk, name) for name in _COLUMNS}, example=example)

    def add(self, clusters: Iterable[str], values: Mapping[str, str]) -> None:
        """Count further clusters, one of which has these values."""
        for cluster in clusters:
            insort(self.clusters, cluster)
        self.differs_in.update(name for name, value in values.items() if self.values.get(name) != value)


class FileGroups:
    """All groups of a run. Memory grows with the number of different changes, not of clusters."""

    def __init__(self) -> None:
        self._groups: dict[str, FileGroup] = {}

    def add(self, cluster: str, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Count the changes of a cluster. Returns the changes that start a group."""
        first = []
        for hunk in hunks:
            if hunk.id not in self._groups:
                self._groups[hunk.id] = FileGroup.begun(hunk, cluster)
                first.append(hunk)
            self._groups[hunk.id].add((cluster,), hunk.values)
        return first

    def remove(self, cluster: str, ids: Iterable[str]) -> None:
        """Remove the changes of a cluster that is compiled again, by the ids of their groups.

        A group keeps its example, even if it was of this cluster.
        """
        for name in ids:
            self._groups[name].clusters.remove(cluster)
            if not self._groups[name].clusters:
                del self._groups[name]

    def __iter__(self) -> Iterator[FileGroup]:
        """The groups in display order: the most clusters first, equal sets of clusters together."""
        return iter(sorted(self._groups.values(), key=_order))


def merge_groups(parts: Iterable[Iterable[FileGroup]]) -> tuple[FileGroup, ...]:
    """Merge the groups of several runs over different clusters; the example is from the run with the first cluster."""
    merged: dict[str, FileGroup] = {}
    for group in sorted((group for groups in parts for group in groups), key=lambda group: group.clusters[0]):
        known = merged.setdefault(group.id, FileGroup.begun(group, group.example))
        known.add(group.clusters, group.values)
        known.differs_in.update(group.differs_in)
    return tuple(sorted(merged.values(), key=_order))


def _order(group: FileGroup) -> tuple[int, list[str], str]:
    return -len(group.clusters), group.clusters, group.path
