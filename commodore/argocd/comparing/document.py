"""A difference as plain data; `docs/reference/argocd-diff-schema.json` describes it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from commodore.argocd.comparing.applications import Difference, State
from commodore.base.documents import plain
from commodore.core.review import Group, change_lines, change_record, group_title

_STATES: dict[str, State] = {
    "added": "added",
    "removed": "removed",
    "changed": "changed",
    "unchanged": "unchanged",
    "renamed": "renamed",
    "unknown": "unknown",
    "notRendered": "not-rendered",
}


def difference_data(found: Difference) -> dict[str, Any]:
    """Counts, dangers, groups of equal changes, and each Application with its objects. Secrets are masked."""
    review = found.review
    changes: dict[str, list[Any]] = {}
    for change in review.comparison.changes:
        changes.setdefault(change.source, []).append(plain(change_record(change)))
    kinds = Counter(change.kind for one in review.groups for change in one.changes)
    return {
        "summary": {
            "applications": {name: found.count(state) for name, state in _STATES.items()},
            "objects": {
                **{kind: kinds[kind] for kind in ("added", "changed", "removed")},
                "unchanged": review.comparison.unchanged,
            },
            "hiddenFields": review.hidden,
            "hiddenOnly": review.hidden_only,
            "ignoredFields": review.ignored,
            "ignoredOnly": review.ignored_only,
            "flags": dict(Counter(flag.name for flag in review.flags)),
        },
        "flags": [
            {
                "name": flag.name,
                "severity": flag.severity,
                "application": flag.source,
                "object": plain(flag.key),
                "message": flag.message,
            }
            for flag in review.flags
        ],
        "groups": list(map(_group, review.groups)),
        "applications": [
            {
                "name": one.name,
                "kind": one.kind,
                "state": one.state,
                "note": one.note,
                "asBefore": one.before,
                "files": list(one.files),
                "objects": changes.get(one.name, []),
            }
            for one in found.applications
        ],
    }


def _group(one: Group) -> dict[str, Any]:
    return {
        "title": group_title(one),
        "applications": list(dict.fromkeys(change.source for change in one.changes)),
        "objects": [plain(change.key) for change in one.changes],
        "flags": sorted({flag.name for flag in one.flags}),
        "text": [line.text for line in change_lines(one)],
    }
