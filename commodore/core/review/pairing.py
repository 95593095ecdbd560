"""Pair the objects of two sets: by name, then renamed objects by similarity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from commodore.base.kubernetes.objects import ObjectKey, key_of
from commodore.core.review.fields import field_changes
from commodore.core.review.model import Comparison, ObjectChange, PlacedObject, in_object_order
from commodore.core.review.values import identity, is_same, leaves, similarity

RENAME_SIMILARITY = 0.6
"""The least share of common leaves of two objects of a kind that count as renamed."""
_RENAME_PAIRS = 10_000
"""The most compared pairs of removed and added objects of a kind; beyond it, only objects equal except for the name
count as renamed.
"""

Pair = tuple[PlacedObject, PlacedObject]


def compare(old: Iterable[PlacedObject], new: Iterable[PlacedObject]) -> Comparison:
    """Compare two sets of objects. Their order does not matter.

    Objects are paired by group, kind, namespace and name, whatever their file and API version; several objects of one
    key by content. The rest of both sides is paired as renamed if it is similar enough.
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
    changes += [ObjectChange("removed", key_of(item.content), key_of(item.content), item, None) for item in removed]
    changes += [ObjectChange("added", key_of(item.content), key_of(item.content), None, item) for item in added]
    return Comparison(in_object_order(changes), unchanged)


def _by_key(objects: Iterable[PlacedObject]) -> dict[ObjectKey, list[PlacedObject]]:
    by_key: dict[ObjectKey, list[PlacedObject]] = defaultdict(list)
    for item in objects:
        by_key[key_of(item.content)].append(item)
    return by_key


def _match(
    old: Sequence[PlacedObject], new: Sequence[PlacedObject]
) -> tuple[list[Pair], list[PlacedObject], list[PlacedObject]]:
    """Pair the objects of one key. Returns the pairs and the rest of both sides."""
    if len(old) == len(new) == 1:
        return [(old[0], new[0])], [], []
    old, new = sorted(old, key=_order), sorted(new, key=_order)
    pairs: list[Pair] = []
    for same in (_is_same_place, _is_same_content, _is_same_file):
        left: list[PlacedObject] = []
        new = list(new)
        for item in old:
            index = next((number for number, other in enumerate(new) if same(item, other)), None)
            if index is None:
                left.append(item)
            else:
                pairs.append((item, new.pop(index)))
        old = left
    pairs += zip(old, new, strict=False)
    common = min(len(old), len(new))
    return pairs, list(old[common:]), list(new[common:])


def _order(item: PlacedObject) -> tuple[str, str, bytes]:
    return item.file, item.source, identity(item.content)


def _is_same_place(item: PlacedObject, other: PlacedObject) -> bool:
    return item.file == other.file and is_same(item.content, other.content)


def _is_same_content(item: PlacedObject, other: PlacedObject) -> bool:
    return is_same(item.content, other.content)


def _is_same_file(item: PlacedObject, other: PlacedObject) -> bool:
    return item.file == other.file


def _change_of(old: PlacedObject, new: PlacedObject) -> ObjectChange | None:
    fields = field_changes(old.content, new.content)
    if not fields and old.file == new.file:
        return None
    return ObjectChange("changed" if fields else "moved", key_of(old.content), key_of(new.content), old, new, fields)


def _find_renamed(
    removed: Sequence[PlacedObject], added: Sequence[PlacedObject]
) -> tuple[list[Pair], list[PlacedObject], list[PlacedObject]]:
    """Pair similar removed and added objects of a kind, the most similar first. Returns the pairs and the rest of both
    sides.
    """
    gone, come = _by_kind(removed), _by_kind(added)
    candidates = [
        (share, item, other)
        for kind in gone.keys() & come.keys()
        if all(kind) or kind[1]
        for share, item, other in _similar(gone[kind], come[kind])
    ]
    candidates.sort(
        key=lambda candidate: (-candidate[0], sorted((key_of(candidate[1].content), key_of(candidate[2].content))))
    )
    taken: set[int] = set()
    pairs: list[Pair] = []
    for _, item, other in candidates:
        if id(item) not in taken and id(other) not in taken:
            taken |= {id(item), id(other)}
            pairs.append((item, other))
    return (
        pairs,
        [item for item in removed if id(item) not in taken],
        [item for item in added if id(item) not in taken],
    )


def _by_kind(objects: Iterable[PlacedObject]) -> dict[tuple[str, str], list[PlacedObject]]:
    by_kind: dict[tuple[str, str], list[PlacedObject]] = defaultdict(list)
    for item in objects:
        key = key_of(item.content)
        by_kind[key.group, key.kind].append(item)
    return by_kind


def _similar(
    removed: Sequence[PlacedObject], added: Sequence[PlacedObject]
) -> Iterator[tuple[float, PlacedObject, PlacedObject]]:
    few = len(removed) * len(added) <= _RENAME_PAIRS
    ours = [leaves(item.content, unnamed=True) for item in removed]
    theirs = [leaves(item.content, unnamed=True) for item in added]
    for item, mine in zip(removed, ours, strict=True):
        for other, yours in zip(added, theirs, strict=True):
            if not few and mine != yours:
                continue
            if (share := similarity(mine, yours)) >= RENAME_SIMILARITY:
                yield share, item, other
