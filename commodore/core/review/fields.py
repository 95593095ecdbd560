"""The differences between two versions of an object by field, from which either version can be made from the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from commodore.base.documents import ABSENT
from commodore.base.errors import InputError
from commodore.base.yaml.yaml_in import load_all
from commodore.core.review.lists import align
from commodore.core.review.model import FieldChange, Key, Path, in_path_order
from commodore.core.review.values import is_same

_DEPTH = 100
"""The greatest depth of compared fields; deeper values are compared as a whole."""
_EMBEDDED_CHARACTERS = 1 << 20
"""The greatest length of texts that are parsed as documents."""


def field_changes(old: Any, new: Any) -> tuple[FieldChange, ...]:
    """Return the differences between two values, in the order of their paths.

    Applied to `old` they give `new`. Swapped sides give the same changes, mirrored.
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
    if any(pair[0] > following[0] for pair, following in itertools.pairwise(order)):
        names = [item.name for item in stay]
        before = [item.name for item in sorted(stay, key=lambda item: item.old or 0)]
        yield FieldChange(path, "reordered", before, names, order)
    for item in items:
        yield from _sides(
            ABSENT if item.old is None else old[item.old], ABSENT if item.new is None else new[item.new], (*path, item)
        )


def _inside(old: Any, new: Any) -> tuple[FieldChange, ...]:
    """Compare the documents in two texts; empty unless both texts are maps or lists in YAML or JSON."""
    before, after = embedded_documents(old), embedded_documents(new)
    if before is None or after is None or is_same(before, after):
        return ()
    if len(before) == 1 and len(after) == 1:
        return field_changes(before[0], after[0])
    return field_changes(before, after)


def embedded_documents(text: Any) -> list[Any] | None:
    """Parse the maps and lists in a text of YAML or JSON; None for other contents."""
    if not isinstance(text, str) or len(text) > _EMBEDDED_CHARACTERS:
        return None
    start = text.lstrip()[:1]
    if not start or ("\n" not in text.strip() and start not in "{["):
        return None
    try:
        documents = load_all(text, place="an embedded document")
    except InputError:
        return None
    return documents if documents and all(isinstance(document, dict | list) for document in documents) else None
