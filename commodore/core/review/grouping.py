"""Equal changes together: forty Deployments that get the same label are one change with forty names."""

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
    """Changes that are the same but for the names of their objects.

    Attributes:
        changes: all of them, in the order of the comparison; the first one shows what the change is.
        flags: their dangers, the worst first.
        sources: the Applications that they are in, if they are not these themselves; empty if reports have nothing to
            say of that.
        context: how many lines of a text are shown around what differs in it.
    """

    changes: tuple[ObjectChange, ...]
    flags: tuple[Flag, ...]
    sources: tuple[str, ...] = ()
    context: int = CONTEXT


def group(
    comparison: Comparison, flags: Sequence[Flag] = (), *, sources: bool = False, apart: bool = False
) -> tuple[Group, ...]:
    """The changes of a comparison in groups: those with the worst flags first, then the larger ones, then by name.

    Added and removed objects are grouped if they are the same objects under other names.

    Args:
        sources: whether the groups say whom their objects come from.
        apart: whether each change is a group of its own.
    """
    by_object: dict[Any, list[Flag]] = {}
    for flag in flags:
        by_object.setdefault((flag.key, flag.source), []).append(flag)
    found: dict[bytes, list[ObjectChange]] = {}
    for number, change in enumerate(comparison.changes):
        found.setdefault(str(number).encode() if apart else _signature(change), []).append(change)
    groups = [
        Group(
            tuple(changes),
            _flags_of(changes, by_object),
            tuple(dict.fromkeys(change.source for change in changes))
            if sources and not any(map(_is_source, changes))
            else (),
        )
        for changes in found.values()
    ]
    worst = list(FLAGS)
    return tuple(
        sorted(
            groups,
            key=lambda one: (
                worst.index(one.flags[0].name) if one.flags else len(worst),
                -len(one.changes),
                one.changes[0].key,
                one.changes[0].source,
            ),
        )
    )


def _is_source(change: ObjectChange) -> bool:
    """Whether an object is the very Application that it comes from."""
    return change.key.kind == "Application" and change.source == f"{change.key.namespace}/{change.key.name}"


def _flags_of(changes: Sequence[ObjectChange], by_object: dict[Any, list[Flag]]) -> tuple[Flag, ...]:
    keys = dict.fromkeys(
        (key, side.source)
        for change in changes
        for key, side in ((change.old_key, change.old), (change.new_key, change.new))
        if side is not None
    )
    found = [flag for key in keys for flag in by_object.get(key, ())]
    worst = list(FLAGS)
    return tuple(sorted(found, key=lambda flag: worst.index(flag.name)))


def _signature(change: ObjectChange) -> bytes:
    """The same for changes that differ in the names of their objects alone, and in what is not shown."""
    side = change.new or change.old
    known = (side.names if side is not None else (), (change.key.name, change.key.namespace))
    names = {
        name: f"\0{number}.{rank}"
        for number, several in enumerate(known)
        for rank, name in sorted(enumerate(several), key=lambda one: -len(one[1]))
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
    """How the path of a file changes: its beginning, the part of before, that of now, its end. All end with a slash,
    or are empty, but for the last; `{a => b}/` may stand for the parts in the middle.
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
            if name in value:  # whole words: `a` is no part of `data`
                value = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mark, value)
        return value
    if isinstance(value, dict):
        return {_without_names(key, names): _without_names(inner, names) for key, inner in value.items()}
    return [_without_names(item, names) for item in value] if isinstance(value, list) else value
