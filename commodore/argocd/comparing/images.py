"""Which images Applications run, and how that differs between two trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.comparing.applications import Difference
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.kubernetes.images import ImageReference
from commodore.core.review import KindPointer, images_of


@dataclass(frozen=True, slots=True)
class Use:
    """An image that an object of an Application names.

    Attributes:
        change: `added`, `removed` or `changed` between two trees; empty if there is but one.
        before: the image that was there, of a changed one.
        place: the container, or the path of the field.
    """

    image: ImageReference
    application: str
    object: ObjectKey
    place: str
    change: str = ""
    before: ImageReference | None = None


def uses_of(
    application: str, objects: Iterable[Mapping[str, Any]], places: Sequence[KindPointer] = ()
) -> Iterator[Use]:
    """The images of the objects of an Application.

    Args:
        places: where there are images beside what is known.
    """
    for data in objects:
        for one in images_of(data, places):
            yield Use(one.image, application, key_of(data), one.place)


def changed_uses(found: Difference, places: Sequence[KindPointer] = ()) -> Iterator[Use]:
    """The images that differ. In one place of an object those of one repository are one that changed."""
    for verdict in found.applications:
        for change in verdict.changes:
            old, new = (
                {use.place: use for use in uses_of(verdict.name, [side.content], places)} if side is not None else {}
                for side in (change.old, change.new)
            )
            for place in dict.fromkeys((*old, *new)):
                yield from _changed(old.get(place), new.get(place))


def _changed(old: Use | None, new: Use | None) -> Iterator[Use]:
    if old is not None and new is not None:
        one, other = old.image, new.image
        if (one.registry, one.repository) == (other.registry, other.repository):
            if (one.tag, one.digest) != (other.tag, other.digest):
                yield Use(other, new.application, new.object, new.place, "changed", one)
            return
    if old is not None:
        yield Use(old.image, old.application, old.object, old.place, "removed")
    if new is not None:
        yield Use(new.image, new.application, new.object, new.place, "added")
