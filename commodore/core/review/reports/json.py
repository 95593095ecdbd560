"""A review as a document for programs."""

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
    """The numbers of objects.

    Attributes:
        added: objects that come.
        changed: objects that change, or get another name.
        removed: objects that go.
        moved: objects that only moved to another file.
        unchanged: objects that are the same, in files that were read.
        hidden_fields: fields that differ as noise.
        hidden_only: objects, counted as changed, that differ in nothing but noise.
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
        message: what is dangerous, in words.
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
        file: the path of its file in the tree; empty if there is none.
        source: whom it comes from, such as an instance or an Application; empty if that is not known.
        object: the whole object, of an added or removed one; secrets are masked.
    """

    file: str
    source: str
    object: Any | Absent


@dataclass(frozen=True, slots=True)
class FieldRecord:
    """A difference between two versions of an object.

    Attributes:
        path: where it is, as people write it.
        kind: `reordered` says that the items which are in both lists stand in another order.
        hidden: whether it is noise.
        ignored: why it is usually not shown.
        old: the value that was there; of a reordered list the names of the items that stay.
        new: the value that is there now; likewise.
        inside: if both values are texts that hold YAML or JSON documents, how those differ.
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
        kind: `moved` is an object that only stands in another file; a renamed object is `changed`.
        renamed_from: what named it before, of a renamed one.
        old: the object before; left out if there was none.
        new: the object now; left out if there is none.
        fields: what differs, noise too.
    """

    kind: ObjectKind
    object: ObjectKey
    renamed_from: ObjectKey | Absent
    old: SideRecord | Absent
    new: SideRecord | Absent
    fields: list[FieldRecord]


@dataclass(frozen=True, slots=True)
class DiffRecord:
    """Everything that differs between two sets of Kubernetes objects.

    Attributes:
        flags: dangers, the worst first.
        groups: equal changes together: those with the worst flags first, then the larger ones. Changes that are nothing
            but noise are in none.
        changes: every object that differs, by kind, group, namespace and name.
    """

    counts: DiffCounts
    flags: list[FlagRecord]
    groups: list[GroupRecord]
    changes: list[ChangeRecord]


def json_report(review: Review) -> DiffRecord:
    """Everything in a review: counts, flags, groups, and every change with its fields, hidden ones too.

    All of it is JSON: dates, and numbers that JSON does not know, are texts.
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
            GroupRecord([index[id(change)] for change in one.changes], sorted({flag.name for flag in one.flags}))
            for one in review.groups
        ],
        list(map(change_record, changes)),
    )


def change_record(change: ObjectChange) -> ChangeRecord:
    """One change: `changes` of the report."""
    ignored = dict(change.ignored)
    fields = [_field(one, hidden=False, reason=ignored.get(path_text(one.path), "")) for one in change.fields]
    fields += [_field(one, hidden=True) for one in change.hidden]
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
