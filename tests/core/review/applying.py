"""Anything that holds for each comparison: applied to the old side it gives the new one, and swapped sides its mirror
image.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from commodore.core.review import ABSENT, Comparison, FieldChange, Item, Key, ObjectChange, Path, PlacedObject
from commodore.core.review.model import in_object_order, in_path_order
from commodore.core.review.pairing import identity


def apply_changes(old: Any, changes: Iterable[FieldChange]) -> Any:
    """The new value, made from the old one and what differs. The old one is not changed."""
    return _apply(old, [(change.path, change) for change in changes])


_Pending = list[tuple[Path, FieldChange]]


def _apply(old: Any, changes: _Pending) -> Any:
    if not changes:
        return old
    whole = [change for path, change in changes if not path and change.kind != "reordered"]
    if whole:
        return whole[0].new
    if isinstance(old, dict):
        return _apply_to_map(old, changes)
    return _apply_to_list(old, changes)


def _apply_to_map(old: dict[Any, Any], changes: _Pending) -> dict[Any, Any]:
    result = dict(old)
    for step, below in _by_step(changes).items():
        assert isinstance(step, Key)
        if below[0][1].kind == "removed" and not below[0][0]:
            del result[step.key]
        else:
            result[step.key] = _apply(result.get(step.key, ABSENT), below)
    return result


def _apply_to_list(old: list[Any], changes: _Pending) -> list[Any]:
    order = next((change.order for path, change in changes if not path), ())
    steps = _by_step([(path, change) for path, change in changes if path])
    gone = {step.old for step in steps if isinstance(step, Item) and step.new is None}
    kept = [index for index, _ in order] or [index for index in range(len(old)) if index not in gone]
    below = {step.old: pending for step, pending in steps.items() if isinstance(step, Item) and step.old is not None}
    added = {step.new: pending for step, pending in steps.items() if isinstance(step, Item) and step.old is None}
    values = iter([_apply(old[index], below.get(index, [])) for index in kept])
    return [_apply(ABSENT, added[index]) if index in added else next(values) for index in range(len(kept) + len(added))]


def _by_step(changes: _Pending) -> dict[Any, _Pending]:
    steps: dict[Any, _Pending] = {}
    for path, change in changes:
        steps.setdefault(path[0], []).append((path[1:], change))
    return steps


def apply_comparison(old: Iterable[PlacedObject], comparison: Comparison) -> list[PlacedObject]:
    """The new set of objects, made from the old one and what differs, in no particular order.

    Raises:
        ValueError: the comparison is of another set.
    """
    left: dict[bytes, list[PlacedObject]] = defaultdict(list)
    for item in old:
        left[identity([item.file, item.content])].append(item)
    result: list[PlacedObject] = []
    for change in comparison.changes:
        if change.old is not None:
            same = left.get(identity([change.old.file, change.old.content]))
            if not same:
                raise ValueError(f"{change.old_key} is not in the old set")
            same.pop()
        if change.new is not None:
            fields = (*change.fields, *change.hidden)
            content = change.new.content if change.old is None else apply_changes(change.old.content, fields)
            result.append(PlacedObject(content, change.new.file, change.new.source))
    return [*result, *(entry for same in left.values() for entry in same)]


_OTHER_SIDE: dict[str, Any] = {"added": "removed", "removed": "added"}


def mirrored_field(change: FieldChange) -> FieldChange:
    """The same difference, seen from the other side."""
    path = tuple(Item(step.name, step.new, step.old) if isinstance(step, Item) else step for step in change.path)
    order = tuple(sorted(((new, old) for old, new in change.order), key=lambda pair: pair[1]))
    inside = in_path_order(map(mirrored_field, change.inside))
    return FieldChange(path, _OTHER_SIDE.get(change.kind, change.kind), change.new, change.old, order, inside)


def mirrored(comparison: Comparison) -> Comparison:
    """The same comparison with its sides swapped."""
    return Comparison(in_object_order(map(_mirrored_object, comparison.changes)), comparison.unchanged)


def _mirrored_object(change: ObjectChange) -> ObjectChange:
    return replace(
        change,
        kind=_OTHER_SIDE.get(change.kind, change.kind),
        old_key=change.new_key,
        new_key=change.old_key,
        old=change.new,
        new=change.old,
        fields=in_path_order(map(mirrored_field, change.fields)),
        hidden=in_path_order(map(mirrored_field, change.hidden)),
    )
