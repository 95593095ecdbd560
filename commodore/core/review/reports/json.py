"""A review as a JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from commodore.base.documents import ABSENT, Absent
from commodore.base.kubernetes.objects import ObjectKey
from commodore.core.review.flags import Severity
from commodore.core.review.model import FieldChange, FieldKind, ObjectChange, ObjectKind, path_text
from commodore.core.review.reviewing import Review
from commodore.core.review.values import as_json


@dataclass(frozen=True, slots=True)
class DiffCounts:
    """Counts of objects.

    Attributes:
        added: added objects.
        changed: changed or renamed objects.
        removed: removed objects.
        moved: unchanged objects in another file.
        unchanged: equal objects, in files that were read.
        hidden_fields: differing fields that are noise.
        hidden_only: objects, counted as changed, whose differences are noise only.
    """

    added: int
    changed: int
    removed: int
    moved: int
    unchanged: int
    hidden_fields: int
    hidden_only: int


@dataclass(frozen=True, slots=True)
class FlagRecord:
    """A danger.

    Attributes:
        message: a description of the danger.
    """

    name: str
    severity: Severity
    object: ObjectKey
    message: str


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """Equal changes.

    Attributes:
        changes: indices into the list of changes.
        flags: names of the flags of these objects.
    """

    changes: list[int]
    flags: list[str]


@dataclass(frozen=True, slots=True)
class SideRecord:
    """An object on one side.

    Attributes:
        file: the path of its file in the tree; empty without a file.
        source: its origin, such as an instance or an Application; empty if unknown.
        object: the whole object, if it was added or removed; secrets are masked.
    """

    file: str
    source: str
    object: Any | Absent


@dataclass(frozen=True, slots=True)
class FieldRecord:
    """A difference between two versions of an object.

    Attributes:
        path: the readable path of the field.
        kind: `reordered` means that the common items of both lists have another order.
        hidden: true for noise.
        ignored: the reason why it is usually not shown.
        old: the old value; for a reordered list the names of the common items.
        new: the new value; for a reordered list the names of the common items.
        inside: the differences of the documents, if both values are texts of YAML or JSON.
    """

    path: str
    kind: FieldKind
    hidden: bool
    ignored: str | Absent
    old: Any | Absent
    new: Any | Absent
    inside: list[FieldRecord] | Absent


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """An object that differs.

    Attributes:
        kind: `moved` is an unchanged object in another file; a renamed object is `changed`.
        renamed_from: the old identity of a renamed object.
        old: the old object; left out if it is missing.
        new: the new object; left out if it is missing.
        fields: the differences, including noise.
    """

    kind: ObjectKind
    object: ObjectKey
    renamed_from: ObjectKey | Absent
    old: SideRecord | Absent
    new: SideRecord | Absent
    fields: list[FieldRecord]


@dataclass(frozen=True, slots=True)
class DiffRecord:
    """All differences between two sets of Kubernetes objects.

    Attributes:
        flags: dangers, the worst first.
        groups: groups of equal changes: the worst flags first, then the larger groups. Changes that consist of noise
            only are in no group.
        changes: every object that differs, by kind, group, namespace and name.
    """

    counts: DiffCounts
    flags: list[FlagRecord]
    groups: list[GroupRecord]
    changes: list[ChangeRecord]


def json_report(review: Review) -> DiffRecord:
    """Return the whole review: counts, flags, groups, and every change with its fields, including hidden ones.

    Dates, and numbers that JSON cannot represent, are texts.
    """
    changes = review.comparison.changes
    index = {id(change): number for number, change in enumerate(changes)}
    kinds = [change.kind for change in changes]
    counts = DiffCounts(
        kinds.count("added"),
        kinds.count("changed"),
        kinds.count("removed"),
        kinds.count("moved"),
        review.comparison.unchanged,
        review.hidden,
        review.hidden_only,
    )
    return DiffRecord(
        counts,
        [FlagRecord(flag.name, flag.severity, flag.key, flag.message) for flag in review.flags],
        [
            GroupRecord([index[id(change)] for change in group.changes], sorted({flag.name for flag in group.flags}))
            for group in review.groups
        ],
        list(map(change_record, changes)),
    )


def change_record(change: ObjectChange) -> ChangeRecord:
    """Return a change: an item of `changes` in the report."""
    ignored = dict(change.ignored)
    fields = [_field(entry, hidden=False, reason=ignored.get(path_text(entry.path), "")) for entry in change.fields]
    fields += [_field(entry, hidden=True) for entry in change.hidden]
    renamed_from = change.old_key if change.is_renamed else ABSENT
    return ChangeRecord(change.kind, change.key, renamed_from, _side(change, "old"), _side(change, "new"), fields)


def _side(change: ObjectChange, name: Literal["old", "new"]) -> SideRecord | Absent:
    side = change.old if name == "old" else change.new
    if side is None:
        return ABSENT
    return SideRecord(side.file, side.source, as_json(side.content) if change.kind in ("added", "removed") else ABSENT)


def _field(field: FieldChange, *, hidden: bool, reason: str = "") -> FieldRecord:
    old, new = (value if value is ABSENT else as_json(value) for value in (field.old, field.new))
    inside = [_field(inner, hidden=hidden) for inner in field.inside]
    return FieldRecord(path_text(field.path), field.kind, hidden, reason or ABSENT, old, new, inside or ABSENT)
