"""Which object of one set is which of the other: by name, then renamed ones by what they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from commodore.base.kubernetes.objects import ObjectKey, key_of
from commodore.core.review.fields import field_changes
from commodore.core.review.model import Comparison, ObjectChange, PlacedObject, in_object_order
from commodore.core.review.values import identity, is_same, leaves, similarity

RENAME_SIMILARITY = 0.6
"""The share of leaves that two objects of one kind must have in common to count as one that was renamed."""
_RENAME_PAIRS = 10_000
"""Removed times added objects of one kind; beyond it, nothing counts as renamed but what is otherwise equal."""

Pair = tuple[PlacedObject, PlacedObject]


def compare(old: Iterable[PlacedObject], new: Iterable[PlacedObject]) -> Comparison:
    """How two sets of objects differ. The order in which they come does not matter.

    Objects belong together if group, kind, namespace and name are the same, whatever the file and the version of the
    API; several objects of one key by what they hold. What is left on both sides is renamed if it is similar enough.
    """
    before, after = _by_key(old), _by_key(new)
    pairs: list[Pair] = []
    removed: list[PlacedObject] = []
    added: list[PlacedObject] = []
    for key in before.keys() | after.keys():
        matched, gone, come = _match(before.get(key, []), after.get(key, []))
        pairs += matched
        removed += gone
        added += come
    renamed, removed, added = _find_renamed(removed, added)
    changes = [change for pair in (*pairs, *renamed) if (change := _change_of(*pair)) is not None]
    unchanged = len(pairs) + len(renamed) - len(changes)
    changes += [ObjectChange("removed", key_of(one.content), key_of(one.content), one, None) for one in removed]
    changes += [ObjectChange("added", key_of(one.content), key_of(one.content), None, one) for one in added]
    return Comparison(in_object_order(changes), unchanged)


def _by_key(objects: Iterable[PlacedObject]) -> dict[ObjectKey, list[PlacedObject]]:
    found: dict[ObjectKey, list[PlacedObject]] = defaultdict(list)
    for one in objects:
        found[key_of(one.content)].append(one)
    return found


def _match(
    old: Sequence[PlacedObject], new: Sequence[PlacedObject]
) -> tuple[list[Pair], list[PlacedObject], list[PlacedObject]]:
    """Pairs of objects of one key, and those of both sides that are left."""
    if len(old) == len(new) == 1:
        return [(old[0], new[0])], [], []
    old, new = sorted(old, key=_order), sorted(new, key=_order)
    pairs: list[Pair] = []
    for same in (_is_same_place, _is_same_content, _is_same_file):
        left: list[PlacedObject] = []
        new = list(new)
        for one in old:
            found = next((index for index, other in enumerate(new) if same(one, other)), None)
            if found is None:
                left.append(one)
            else:
                pairs.append((one, new.pop(found)))
        old = left
    pairs += zip(old, new, strict=False)
    common = min(len(old), len(new))
    return pairs, list(old[common:]), list(new[common:])


def _order(one: PlacedObject) -> tuple[str, str, bytes]:
    return one.file, one.source, identity(one.content)


def _is_same_place(one: PlacedObject, other: PlacedObject) -> bool:
    return one.file == other.file and is_same(one.content, other.content)


def _is_same_content(one: PlacedObject, other: PlacedObject) -> bool:
    return is_same(one.content, other.content)


def _is_same_file(one: PlacedObject, other: PlacedObject) -> bool:
    return one.file == other.file


def _change_of(old: PlacedObject, new: PlacedObject) -> ObjectChange | None:
    fields = field_changes(old.content, new.content)
    if not fields and old.file == new.file:
        return None
    return ObjectChange("changed" if fields else "moved", key_of(old.content), key_of(new.content), old, new, fields)


def _find_renamed(
    removed: Sequence[PlacedObject], added: Sequence[PlacedObject]
) -> tuple[list[Pair], list[PlacedObject], list[PlacedObject]]:
    """Removed and added objects of one kind that are similar, the most similar first."""
    gone, come = _by_kind(removed), _by_kind(added)
    candidates = [
        (found, one, other)
        for kind in gone.keys() & come.keys()
        if all(kind) or kind[1]
        for found, one, other in _similar(gone[kind], come[kind])
    ]
    candidates.sort(key=lambda found: (-found[0], sorted((key_of(found[1].content), key_of(found[2].content)))))
    taken: set[int] = set()
    pairs: list[Pair] = []
    for _, one, other in candidates:
        if id(one) not in taken and id(other) not in taken:
            taken |= {id(one), id(other)}
            pairs.append((one, other))
    return (
        pairs,
        [one for one in removed if id(one) not in taken],
        [one for one in added if id(one) not in taken],
    )


def _by_kind(objects: Iterable[PlacedObject]) -> dict[tuple[str, str], list[PlacedObject]]:
    found: dict[tuple[str, str], list[PlacedObject]] = defaultdict(list)
    for one in objects:
        key = key_of(one.content)
        found[key.group, key.kind].append(one)
    return found


def _similar(
    removed: Sequence[PlacedObject], added: Sequence[PlacedObject]
) -> Iterator[tuple[float, PlacedObject, PlacedObject]]:
    few = len(removed) * len(added) <= _RENAME_PAIRS
    ours = [leaves(one.content, unnamed=True) for one in removed]
    theirs = [leaves(one.content, unnamed=True) for one in added]
    for one, mine in zip(removed, ours, strict=True):
        for other, yours in zip(added, theirs, strict=True):
            if not few and mine != yours:
                continue
            if (found := similarity(mine, yours)) >= RENAME_SIMILARITY:
                yield found, one, other
