"""Merging of values like reclass-rs: maps deeply, lists by appending, other values replaced; `~` and null reset.

A merged map keeps the markers of its keys, as they apply again if a reference merges the map over another one. As plain
data its keys are written with their markers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.core.inventory.explain._nodes import bare, markers_of


class CannotMergeError(Exception):
    """Values that reclass-rs would have refused to merge."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Placeholder of a dangling reference, which is harmless if another value overrides it."""

    written: str


@dataclass(slots=True)
class _Slot:
    value: Any
    overrides: bool
    constant: bool


@dataclass(slots=True)
class MergedMap:
    """A map to merge values into."""

    slots: dict[Any, _Slot] = field(default_factory=dict)

    def insert(self, key: Any, value: Any, *, overrides: bool, constant: bool) -> None:
        """Merge one value over the key's.

        Raises:
            CannotMergeError: the key is a constant, or the values are of different kinds.
        """
        slot = self.slots.get(key)
        if slot is None:
            self.slots[key] = _Slot(value, overrides, constant)
            return
        if slot.constant:
            raise CannotMergeError
        slot.value = value if overrides else merge(slot.value, value)
        slot.constant = constant

    def copy(self) -> MergedMap:
        return MergedMap({key: _Slot(slot.value, slot.overrides, slot.constant) for key, slot in self.slots.items()})


def merge(old: Any, new: Any) -> Any:
    """Return `new` merged over `old`; both stay unchanged.

    Raises:
        CannotMergeError: they are of different kinds.
    """
    if new is None or old is None:
        return new
    if isinstance(old, MergedMap) and isinstance(new, MergedMap):
        merged = old.copy()
        for key, slot in new.slots.items():
            merged.insert(key, slot.value, overrides=slot.overrides, constant=slot.constant)
        return merged
    if isinstance(old, list) and isinstance(new, list):
        return old + new
    if isinstance(old, (MergedMap, list)) or isinstance(new, (MergedMap, list)):
        raise CannotMergeError
    return new


def marked(value: Any) -> Any:
    """Return a value as plain data: the keys of maps with their markers."""
    if isinstance(value, MergedMap):
        return {_written(key, slot): marked(slot.value) for key, slot in value.slots.items()}
    return [marked(item) for item in value] if isinstance(value, list) else value


def mergeable(value: Any) -> Any:
    """Return plain data, whose keys have markers, as a value to merge: the inverse of `marked`."""
    if isinstance(value, Mapping):
        merged = MergedMap()
        for written, inner in value.items():
            markers = markers_of(written)
            merged.insert(bare(written), mergeable(inner), overrides="~" in markers, constant="=" in markers)
        return merged
    return [mergeable(item) for item in value] if isinstance(value, list) else value


def rendered(value: Any) -> Any:
    """Return a value as plain data like the rendered hierarchy: without markers."""
    if isinstance(value, MergedMap):
        return {key: rendered(slot.value) for key, slot in value.slots.items()}
    return [rendered(item) for item in value] if isinstance(value, list) else value


def same(value: Any, other: Any) -> bool:
    """Check if two rendered values are equal, including their types; `.nan` equals itself."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(same(a, b) for a, b in zip(value, other, strict=True))
    return type(value) is type(other) and (value == other or (value != value and other != other))


def fold(values: Iterable[tuple[Any, bool]]) -> Any:
    """Merge values in order; a value with True discards the values before it.

    Raises:
        CannotMergeError: two values cannot be merged, or no values.
    """
    merged: Any = _NOTHING
    for value, resets in values:
        merged = value if resets or merged is _NOTHING else merge(merged, value)
    if merged is _NOTHING:
        raise CannotMergeError
    return merged


_NOTHING = object()


def _written(key: Any, slot: _Slot) -> Any:
    markers = ("=" if slot.constant else "") + ("~" if slot.overrides else "")
    return markers + key if isinstance(key, str) else key
