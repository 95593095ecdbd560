"""How two versions of an object differ, field by field, and the way back: making one version from the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from commodore.errors import InputError
from commodore.manifests.object_diff.lists import align
from commodore.manifests.object_diff.model import ABSENT, FieldChange, Item, Key, Path, in_path_order
from commodore.manifests.object_diff.values import is_same
from commodore.manifests.yaml_in import load_all

_DEPTH = 100
"""Steps that are taken into an object; what lies deeper is compared as a whole."""
_EMBEDDED_CHARACTERS = 1 << 20
"""Longer texts are not read as documents."""


def field_changes(old: Any, new: Any) -> tuple[FieldChange, ...]:
    """How two values differ, in the order of their paths. Nothing for equal ones.

    `apply_changes(old, field_changes(old, new))` is `new`. With swapped sides, the same changes are found, mirrored.
    """
    return in_path_order(_changes(old, new, ()))


def _changes(old: Any, new: Any, path: Path) -> Iterator[FieldChange]:
    if is_same(old, new):
        return
    if len(path) < _DEPTH and isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}, key=str):
            yield from _sides(old.get(key, ABSENT), new.get(key, ABSENT), (*path, Key(key)))
    elif len(path) < _DEPTH and isinstance(old, list) and isinstance(new, list):
        yield from _list_changes(old, new, path)
    else:
        yield FieldChange(path, "replaced", old, new, inside=_inside(old, new))


def _sides(old: Any, new: Any, path: Path) -> Iterator[FieldChange]:
    if old is ABSENT:
        yield FieldChange(path, "added", new=new)
    elif new is ABSENT:
        yield FieldChange(path, "removed", old=old)
    else:
        yield from _changes(old, new, path)


def _list_changes(old: Sequence[Any], new: Sequence[Any], path: Path) -> Iterator[FieldChange]:
    last = path[-1] if path else None
    items = align(last.key if isinstance(last, Key) else None, old, new)
    stay = [item for item in items if item.old is not None and item.new is not None]
    stay.sort(key=lambda item: item.new or 0)
    order = tuple((item.old or 0, item.new or 0) for item in stay)
    if any(one[0] > other[0] for one, other in itertools.pairwise(order)):
        names = [item.name for item in stay]
        before = [item.name for item in sorted(stay, key=lambda item: item.old or 0)]
        yield FieldChange(path, "reordered", before, names, order)
    for item in items:
        yield from _sides(
            ABSENT if item.old is None else old[item.old], ABSENT if item.new is None else new[item.new], (*path, item)
        )


def _inside(old: Any, new: Any) -> tuple[FieldChange, ...]:
    """How the documents in two texts differ; nothing unless both texts are maps or lists as YAML or JSON."""
    before, after = embedded_documents(old), embedded_documents(new)
    if before is None or after is None or is_same(before, after):
        return ()
    if len(before) == 1 and len(after) == 1:
        return field_changes(before[0], after[0])
    return field_changes(before, after)


def embedded_documents(text: Any) -> list[Any] | None:
    """The maps and lists that a text holds as YAML or JSON; None if it holds anything else."""
    if not isinstance(text, str) or len(text) > _EMBEDDED_CHARACTERS:
        return None
    start = text.lstrip()[:1]
    if not start or ("\n" not in text.strip() and start not in "{["):
        return None
    try:
        documents = load_all(text, place="an embedded document")
    except InputError:
        return None
    return documents if documents and all(isinstance(one, dict | list) for one in documents) else None


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
