"""A review as plain data, for programs; `docs/reference/diff-schema.json` describes it."""

from __future__ import annotations

from typing import Any

from commodore.base.kubernetes.objects import ObjectKey
from commodore.core.review.model import ABSENT, FieldChange, ObjectChange, path_text
from commodore.core.review.reviewing import Review
from commodore.core.review.values import as_json

SCHEMA_VERSION = 1


def json_report(review: Review) -> dict[str, Any]:
    """Everything in a review: counts, flags, groups, and every change with its fields, hidden ones too.

    All of it is JSON: dates, and numbers that JSON does not know, are texts.
    """
    changes = review.comparison.changes
    index = {id(change): number for number, change in enumerate(changes)}
    kinds = [change.kind for change in changes]
    return {
        "version": SCHEMA_VERSION,
        "counts": {
            **{kind: kinds.count(kind) for kind in ("added", "changed", "removed", "moved")},
            "unchanged": review.comparison.unchanged,
            "hiddenFields": review.hidden,
            "hiddenOnly": review.hidden_only,
        },
        "flags": [
            {"name": flag.name, "severity": flag.severity, "object": key_data(flag.key), "message": flag.message}
            for flag in review.flags
        ],
        "groups": [
            {"changes": [index[id(change)] for change in one.changes], "flags": sorted({f.name for f in one.flags})}
            for one in review.groups
        ],
        "changes": [change_data(change) for change in changes],
    }


def change_data(change: ObjectChange) -> dict[str, Any]:
    """One change as plain data: `changes` of the report."""
    found: dict[str, Any] = {"kind": change.kind, "object": key_data(change.key)}
    if change.is_renamed:
        found["renamedFrom"] = key_data(change.old_key)
    for name, side in (("old", change.old), ("new", change.new)):
        if side is not None:
            found[name] = {"file": side.file, "source": side.source}
            if change.kind in ("added", "removed"):
                found[name]["object"] = as_json(side.content)
    ignored = dict(change.ignored)
    found["fields"] = [
        _field(field, hidden=False, reason=ignored.get(path_text(field.path), "")) for field in change.fields
    ]
    found["fields"] += [_field(field, hidden=True) for field in change.hidden]
    return found


def _field(field: FieldChange, *, hidden: bool, reason: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"path": path_text(field.path), "kind": field.kind, "hidden": hidden}
    if reason:
        found["ignored"] = reason
    if field.old is not ABSENT:
        found["old"] = as_json(field.old)
    if field.new is not ABSENT:
        found["new"] = as_json(field.new)
    if field.inside:
        found["inside"] = [_field(inner, hidden=hidden) for inner in field.inside]
    return found


def key_data(key: ObjectKey) -> dict[str, str]:
    """What names an object, as plain data."""
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name}
