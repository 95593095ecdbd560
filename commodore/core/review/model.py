"""The change model: the differences between two sets of objects, complete enough to make one set from the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from commodore.base.documents import ABSENT
from commodore.base.kubernetes.objects import ObjectKey


@dataclass(frozen=True, slots=True)
class Key:
    """A step into a map."""

    key: Any


@dataclass(frozen=True, slots=True)
class Item:
    """A step into a list.

    Attributes:
        name: the identifying fields of the item, such as `name=web`; empty if it is identified by index.
        old: its index in the old list, None for an added item.
        new: its index in the new list, None for a removed item.
    """

    name: str
    old: int | None
    new: int | None


Step = Key | Item
Path = tuple[Step, ...]

FieldKind = Literal["added", "removed", "replaced", "reordered"]
_RANK = {"removed": 0, "replaced": 1, "reordered": 2, "added": 3}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A difference between two versions of an object.

    Attributes:
        path: the path of the field, with list items by name.
        kind: `reordered` means that the common items of both lists have another order.
        old: the old value, `ABSENT` for an added one; for a reordered list the names of the common items.
        new: the new value, `ABSENT` for a removed one; for a reordered list the names of the common items.
        order: for a reordered list the old and new index of each common item, in the new order.
        inside: the differences of the documents, if both values are texts of YAML or JSON.
    """

    path: Path
    kind: FieldKind
    old: Any = ABSENT
    new: Any = ABSENT
    order: tuple[tuple[int, int], ...] = ()
    inside: tuple[FieldChange, ...] = ()


def in_path_order(changes: Iterable[FieldChange]) -> tuple[FieldChange, ...]:
    """Sort changes in display order, which is the same for swapped sides."""
    return tuple(sorted(changes, key=lambda change: (tuple(map(_step_order, change.path)), _RANK[change.kind])))


def _step_order(step: Step) -> tuple[int, str, int, int]:
    if isinstance(step, Key):
        return (0, str(step.key), 0, 0)
    if step.name:
        return (1, step.name, 0, 0)
    places = [place for place in (step.old, step.new) if place is not None]
    return (1, "", min(places), max(places))


def step_name(step: Step) -> str:
    """Return a step as in JSON pointers; an item of a list by its index, the old one if it has two."""
    if isinstance(step, Key):
        return str(step.key)
    return str(step.old if step.old is not None else step.new)


def path_text(path: Path) -> str:
    """Return a readable path: `spec.template.spec.containers[name=web].image`. Not safe to print as it is."""
    text = ""
    for step in path:
        if isinstance(step, Item):
            place = step.new if step.new is not None else step.old
            text += f"[{step.name or place}]"
        elif isinstance(step.key, str) and step.key and not set(step.key) & set(".[]\"' \n"):
            text += f".{step.key}"
        else:
            text += f"[{step.key!r}]"
    return text.removeprefix(".")


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """An object and its place.

    Attributes:
        content: the object as plain data. It must not be changed.
        file: the path of its file in the tree, with slashes; empty without a file.
        source: its origin, such as an instance or an Application; empty if unknown.
        names: names of its context, such as of its Application: changes that differ only in them are equal.
    """

    content: Any
    file: str = ""
    source: str = ""
    names: tuple[str, ...] = ()


ObjectKind = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that differs.

    Attributes:
        kind: `moved` is an unchanged object in another file; a renamed object is `changed`.
        old_key, new_key: its identity; equal unless it was renamed. Both are set for added and removed objects, too.
        old, new: the object on each side, None if it does not exist.
        fields: the shown differences.
        hidden: the differences that are noise (see `commodore.core.review.noise`).
        ignored: the paths of shown fields that are usually not shown, each with the reason.
    """

    kind: ObjectKind
    old_key: ObjectKey
    new_key: ObjectKey
    old: PlacedObject | None
    new: PlacedObject | None
    fields: tuple[FieldChange, ...] = ()
    hidden: tuple[FieldChange, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()

    @property
    def is_renamed(self) -> bool:
        return self.old_key != self.new_key

    @property
    def is_moved(self) -> bool:
        """True if its file differs."""
        return self.old is not None and self.new is not None and self.old.file != self.new.file

    @property
    def key(self) -> ObjectKey:
        """The new identity; the old one of a removed object."""
        return self.new_key

    @property
    def source(self) -> str:
        """The new origin; the old one of a removed object."""
        side = self.new or self.old
        return side.source if side is not None else ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences between two sets of objects.

    Attributes:
        changes: the objects that differ, ordered by kind, namespace and name.
        unchanged: the number of objects with the same content and place on both sides.
    """

    changes: tuple[ObjectChange, ...]
    unchanged: int = 0


def in_object_order(changes: Iterable[ObjectChange]) -> tuple[ObjectChange, ...]:
    """Sort changes by kind, group, namespace and name; the order is the same for swapped sides."""
    return tuple(sorted(changes, key=_object_order))


def _object_order(change: ObjectChange) -> tuple[Any, ...]:
    low, high = sorted((change.old_key, change.new_key))
    files = sorted(side.file for side in (change.old, change.new) if side is not None)
    return (low.kind, low.group, low.namespace, low.name, high, change.kind in ("added", "removed"), files)
