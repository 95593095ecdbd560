"""The change model: what differs between two sets of objects, exactly enough to make one set from the other."""

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
        name: what names the item among the others, such as `name=web`; empty if only its place does.
        old: its index in the old list, None if it is not there.
        new: its index in the new list, None if it is not there.
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
    """One difference between two versions of an object.

    Attributes:
        path: where it is. Lists below it are addressed by what names their items.
        kind: `reordered` says that the items which are in both lists stand in another order.
        old: the value that was there, `ABSENT` for an added one; of a reordered list the names of the items that stay.
        new: the value that is there now, `ABSENT` for a removed one; likewise.
        order: of a reordered list the indices, old and new, of each item that stays, in the new order.
        inside: if both values are texts that hold YAML or JSON documents, how those differ.
    """

    path: Path
    kind: FieldKind
    old: Any = ABSENT
    new: Any = ABSENT
    order: tuple[tuple[int, int], ...] = ()
    inside: tuple[FieldChange, ...] = ()


def in_path_order(changes: Iterable[FieldChange]) -> tuple[FieldChange, ...]:
    """Changes in the order in which they are shown; with swapped sides they come in the same."""
    return tuple(sorted(changes, key=lambda change: (tuple(map(_step_order, change.path)), _RANK[change.kind])))


def _step_order(step: Step) -> tuple[int, str, int, int]:
    if isinstance(step, Key):
        return (0, str(step.key), 0, 0)
    if step.name:
        return (1, step.name, 0, 0)
    places = [place for place in (step.old, step.new) if place is not None]
    return (1, "", min(places), max(places))


def step_name(step: Step) -> str:
    """A step as JSON pointers have it; an item of a list by its index, the old one if it has two."""
    if isinstance(step, Key):
        return str(step.key)
    return str(step.old if step.old is not None else step.new)


def path_text(path: Path) -> str:
    """A path as people write it: `spec.template.spec.containers[name=web].image`. Not safe to print as it is."""
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
    """An object and where it stands.

    Attributes:
        content: the object as plain data. It must not be changed.
        file: the path of its file in the tree, with slashes; empty if there is none.
        source: whom it comes from, such as an instance or an Application; empty if that is not known.
        names: names of its surroundings, such as that of its Application: changes that differ in them alone are equal.
    """

    content: Any
    file: str = ""
    source: str = ""
    names: tuple[str, ...] = ()


ObjectKind = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object that differs.

    Attributes:
        kind: `moved` is an object that only stands in another file; a renamed object is `changed`.
        old_key, new_key: what names it; equal unless it was renamed. Both are set for added and removed objects too.
        old, new: the object on each side, None where it is not.
        fields: what differs and is shown.
        hidden: what differs and is noise (see `commodore.core.review.noise`).
        ignored: the paths of fields that are shown and usually are not, each with the reason.
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
        """Whether it stands in another file than before."""
        return self.old is not None and self.new is not None and self.old.file != self.new.file

    @property
    def key(self) -> ObjectKey:
        """What names it today; of a removed object, what named it."""
        return self.new_key

    @property
    def source(self) -> str:
        """Whom it comes from today; of a removed object, whom it came from."""
        side = self.new or self.old
        return side.source if side is not None else ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that differs between two sets of objects.

    Attributes:
        changes: what differs, ordered by kind, namespace and name.
        unchanged: how many objects are the same on both sides, at the same place.
    """

    changes: tuple[ObjectChange, ...]
    unchanged: int = 0


def in_object_order(changes: Iterable[ObjectChange]) -> tuple[ObjectChange, ...]:
    """Changes by kind, group, namespace and name; with swapped sides they come in the same order."""
    return tuple(sorted(changes, key=_object_order))


def _object_order(change: ObjectChange) -> tuple[Any, ...]:
    low, high = sorted((change.old_key, change.new_key))
    files = sorted(side.file for side in (change.old, change.new) if side is not None)
    return (low.kind, low.group, low.namespace, low.name, high, change.kind in ("added", "removed"), files)
