"""Group equal changes: forty Deployments that get the same label are one change with forty names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commodore.core.review.flags import FLAGS, Flag
from commodore.core.review.model import Comparison, FieldChange, ObjectChange, path_text
from commodore.core.review.textdiff import CONTEXT
from commodore.core.review.values import identity


@dataclass(frozen=True, slots=True)
class Group:
    """Changes that differ only in the names of their objects.

    Attributes:
        changes: the changes, in the order of the comparison; the first one represents the group.
        flags: the dangers, the worst first.
        sources: the Applications that contain them, unless they are Applications themselves; empty if reports do not
            name sources.
        context: the number of context lines around differences of texts.
    """

    changes: tuple[ObjectChange, ...]
    flags: tuple[Flag, ...]
    sources: tuple[str, ...] = ()
    context: int = CONTEXT


def group(
    comparison: Comparison, flags: Sequence[Flag] = (), *, sources: bool = False, separate: bool = False
) -> tuple[Group, ...]:
    """Group the changes of a comparison: the worst flags first, then the larger groups, then by name.

    Added and removed objects are grouped if they differ in their names only.

    Args:
        sources: fill in the sources of the groups.
        separate: make each change a group of its own.
    """
    by_object: dict[Any, list[Flag]] = {}
    for flag in flags:
        by_object.setdefault((flag.key, flag.source), []).append(flag)
    by_signature: dict[bytes, list[ObjectChange]] = {}
    for number, change in enumerate(comparison.changes):
        by_signature.setdefault(str(number).encode() if separate else _signature(change), []).append(change)
    groups = [
        Group(
            tuple(changes),
            _flags_of(changes, by_object),
            tuple(dict.fromkeys(change.source for change in changes))
            if sources and not any(map(_is_source, changes))
            else (),
        )
        for changes in by_signature.values()
    ]
    worst = list(FLAGS)
    return tuple(
        sorted(
            groups,
            key=lambda group: (
                worst.index(group.flags[0].name) if group.flags else len(worst),
                -len(group.changes),
                group.changes[0].key,
                group.changes[0].source,
            ),
        )
    )


def _is_source(change: ObjectChange) -> bool:
    """Return True if an object is itself the Application that it comes from."""
    return change.key.kind == "Application" and change.source == f"{change.key.namespace}/{change.key.name}"


def _flags_of(changes: Sequence[ObjectChange], by_object: dict[Any, list[Flag]]) -> tuple[Flag, ...]:
    keys = dict.fromkeys(
        (key, side.source)
        for change in changes
        for key, side in ((change.old_key, change.old), (change.new_key, change.new))
        if side is not None
    )
    flags = [flag for key in keys for flag in by_object.get(key, ())]
    worst = list(FLAGS)
    return tuple(sorted(flags, key=lambda flag: worst.index(flag.name)))


def _signature(change: ObjectChange) -> bytes:
    """Return a digest that is equal for changes that differ only in names of objects, and in hidden fields."""
    side = change.new or change.old
    known = (side.names if side is not None else (), (change.key.name, change.key.namespace))
    names = {
        name: f"\0{number}.{rank}"
        for number, several in enumerate(known)
        for rank, name in sorted(enumerate(several), key=lambda entry: -len(entry[1]))
        if name
    }
    kind = [change.kind, change.key.group, change.key.kind, change.is_renamed, change.is_moved]
    side = change.new if change.kind == "added" else change.old
    if change.kind in ("added", "removed") and side is not None:
        return identity([*kind, _without_names(side.content, names)])
    moved = (
        list(move_of(change.old.file, change.new.file)[1:3]) if change.is_moved and change.old and change.new else []
    )
    if change.kind == "moved" and moved:
        return identity(["moved", moved])
    return identity([*kind, moved, [_field(field, names) for field in change.fields]])


def move_of(old: str, new: str) -> tuple[str, str, str, str]:
    """Split the change of a file's path: common beginning, old part, new part, common end. All end with a slash or are
    empty, except for the last; the middle can be shown as `{a => b}/`.
    """
    before, after = old.split("/"), new.split("/")
    start = 0
    while start < min(len(before), len(after)) - 1 and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    parts = (before[:start], before[start : len(before) - end], after[start : len(after) - end])
    first, gone, come = ("/".join([*part, ""]) for part in parts)
    return first, gone, come, "/".join(before[len(before) - end :])


def _field(field: FieldChange, names: dict[str, str]) -> list[Any]:
    sides = [None if not isinstance(side, _DATA) else _without_names(side, names) for side in (field.old, field.new)]
    return [_without_names(path_text(field.path), names), field.kind, *sides, [list(pair) for pair in field.order]]


_DATA = (dict, list, str, int, float, bool)


def _without_names(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, mark in names.items():
            if name in value:  # whole words only: not the `a` in `data`
                value = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mark, value)
        return value
    if isinstance(value, dict):
        return {_without_names(key, names): _without_names(inner, names) for key, inner in value.items()}
    return [_without_names(item, names) for item in value] if isinstance(value, list) else value
