"""How reclass-rs merges values: maps deeply, lists by appending, anything else replaced; `~` and null start over.

A map that is being merged remembers which of its keys carry markers, as these count again where a reference brings the
map over another one. As plain data its keys are written with their markers.
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
    """Stands where a reference leads nowhere, which does no harm if another value comes over it."""

    written: str


@dataclass(slots=True)
class _Slot:
    value: Any
    overrides: bool
    constant: bool


@dataclass(slots=True)
class Merging:
    """A map that is being merged."""

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

    def copy(self) -> Merging:
        return Merging({key: _Slot(slot.value, slot.overrides, slot.constant) for key, slot in self.slots.items()})


def merge(old: Any, new: Any) -> Any:
    """What is left when `new` comes over `old`; both stay as they are.

    Raises:
        CannotMergeError: they are of different kinds.
    """
    if new is None or old is None:
        return new
    if isinstance(old, Merging) and isinstance(new, Merging):
        merged = old.copy()
        for key, slot in new.slots.items():
            merged.insert(key, slot.value, overrides=slot.overrides, constant=slot.constant)
        return merged
    if isinstance(old, list) and isinstance(new, list):
        return old + new
    if isinstance(old, (Merging, list)) or isinstance(new, (Merging, list)):
        raise CannotMergeError
    return new


def marked(value: Any) -> Any:
    """A value as plain data: the keys of maps with their markers."""
    if isinstance(value, Merging):
        return {_written(key, slot): marked(slot.value) for key, slot in value.slots.items()}
    return [marked(item) for item in value] if isinstance(value, list) else value


def mergeable(value: Any) -> Any:
    """The other way round: plain data, whose keys have markers, ready to be merged."""
    if isinstance(value, Mapping):
        merged = Merging()
        for written, inner in value.items():
            markers = markers_of(written)
            merged.insert(bare(written), mergeable(inner), overrides="~" in markers, constant="=" in markers)
        return merged
    return [mergeable(item) for item in value] if isinstance(value, list) else value


def rendered(value: Any) -> Any:
    """A value as plain data, as the rendered hierarchy has it: without markers."""
    if isinstance(value, Merging):
        return {key: rendered(slot.value) for key, slot in value.slots.items()}
    return [rendered(item) for item in value] if isinstance(value, list) else value


def same(one: Any, other: Any) -> bool:
    """Whether two rendered values are equal, types included; `.nan` counts as equal to itself."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def fold(values: Iterable[tuple[Any, bool]]) -> Any:
    """Merge values in order; with each comes whether what was before still counts.

    Raises:
        CannotMergeError: two of them cannot be combined, or there are none.
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
