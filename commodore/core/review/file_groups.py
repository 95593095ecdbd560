"""Equal changes of many clusters or cells, each shown once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from commodore.core.review.masking import mask_text
from commodore.core.review.placeholders import Placeholders

if TYPE_CHECKING:
    from commodore.core.review.file_changes import FileDiff

_LINES = 400  # of a change that are kept to be shown
_ID = 12  # digits


@dataclass(frozen=True, slots=True)
class Hunk:
    """The change of one file in one cluster.

    Attributes:
        id: is equal for changes that are equal but for values of their clusters.
        kind: what happened to the file.
        values: the values that occur in it, by what they are (`cluster.name`).
        lines: of the diff, as pairs of style and text.
        left_out: how many more there are.
    """

    id: str
    values: Mapping[str, str]
    kind: str = ""
    path: str = ""
    normalised: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    left_out: int = 0

    @classmethod
    def of(cls, diff: FileDiff, placeholders: Placeholders) -> Hunk:
        values: dict[str, str] = {}
        path = placeholders(diff.path, values)
        lines = ["@@" if line.style == "hunk" else placeholders(line.text, values) for line in diff.lines]
        digest = hashlib.sha256(json.dumps([diff.kind, path, lines]).encode()).hexdigest()
        shown = tuple((line.style, _masked(line.text)) for line in diff.lines[:_LINES])
        return cls(digest[:_ID], values, diff.kind, diff.path, path, shown, max(0, len(diff.lines) - _LINES))

    def as_dict(self, *, whole: bool) -> dict[str, Any]:
        """As JSON-ready data; only what adds to its group unless it is to be `whole`."""
        return asdict(self) if whole else {"id": self.id, "values": dict(self.values)}

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Hunk:
        """Read what `as_dict` has written."""
        return cls(**{**data, "lines": tuple((style, text) for style, text in data.get("lines", ()))})


def _masked(line: str) -> str:
    return line[:1] + mask_text(line[1:])


@dataclass(slots=True)
class FileGroup:
    """A change that several clusters or cells have in common; `example` is that of the first of them, `cluster`.

    Attributes:
        cluster: empty if an older version has written the report.
        differing: the names of the values in which they differ.
    """

    example: Hunk
    clusters: list[str] = field(default_factory=list)
    differing: set[str] = field(default_factory=set)
    cluster: str = ""

    def add(self, cluster: str, values: Mapping[str, str]) -> None:
        """Count one more cluster."""
        self.clusters.append(cluster)
        self.differing |= {name for name, value in values.items() if self.example.values.get(name) != value}

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        one = self.example
        return {
            "id": one.id,
            "clusters": sorted(self.clusters),
            "example": self.cluster,
            "kind": one.kind,
            "path": one.path,
            "normalised": one.normalised,
            "differs_in": sorted(self.differing),
            "values": dict(one.values),
            "diff": [list(line) for line in one.lines],
            "left_out": one.left_out,
        }

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> FileGroup:
        """Read what `as_dict` has written."""
        lines = tuple((style, text) for style, text in data["diff"])
        example = Hunk(
            data["id"], data["values"], data["kind"], data["path"], data["normalised"], lines, data["left_out"]
        )
        return cls(example, list(data["clusters"]), set(data["differs_in"]), data.get("example", ""))


class FileGroups:
    """All groups of a run. What is kept grows with the number of different changes, not with that of clusters."""

    def __init__(self) -> None:
        self._groups: dict[str, FileGroup] = {}

    def add(self, cluster: str, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Count the changes of a cluster. Returns those that are the first of their group."""
        first = []
        for hunk in hunks:
            if hunk.id not in self._groups:
                self._groups[hunk.id] = FileGroup(hunk, cluster=cluster)
                first.append(hunk)
            self._groups[hunk.id].add(cluster, hunk.values)
        return first

    def remove(self, cluster: str, ids: Iterable[str]) -> None:
        """Forget the changes of a cluster that is compiled again, which are in these groups.

        A group keeps its example, also if that was of this cluster.
        """
        for name in ids:
            self._groups[name].clusters.remove(cluster)
            if not self._groups[name].clusters:
                del self._groups[name]

    def __iter__(self) -> Iterator[FileGroup]:
        """The groups in the order in which they are shown: those of most clusters first, equal sets together."""
        return iter(sorted(self._groups.values(), key=_order))


def merge_groups(parts: Iterable[Iterable[FileGroup]]) -> tuple[FileGroup, ...]:
    """The groups of several runs over different clusters; the example is that of the run with the first cluster."""
    found: dict[str, FileGroup] = {}
    for group in sorted((group for groups in parts for group in groups), key=lambda group: min(group.clusters)):
        known = found.setdefault(group.example.id, FileGroup(group.example, cluster=group.cluster))
        values = known.example.values
        differing = {name for name, value in group.example.values.items() if values.get(name) != value}
        known.differing |= group.differing | differing
        known.clusters = sorted([*known.clusters, *group.clusters])
    return tuple(sorted(found.values(), key=_order))


def _order(group: FileGroup) -> tuple[int, list[str], str]:
    return -len(group.clusters), sorted(group.clusters), group.example.path
