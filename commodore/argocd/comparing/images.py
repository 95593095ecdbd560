"""The images of Applications, and their differences between two trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.comparing.applications import Difference
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.kubernetes.images import ImageReference
from commodore.core.review import KindPointer, images_of


@dataclass(frozen=True, slots=True)
class ImageUse:
    """An image that an object of an Application names.

    Attributes:
        change: `added`, `removed` or `changed` between two trees; empty if there is only one tree.
        before: the former image, if it has changed.
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
) -> Iterator[ImageUse]:
    """Yield the images of the objects of an Application.

    Args:
        places: further fields with images.
    """
    for data in objects:
        for image in images_of(data, places):
            yield ImageUse(image.image, application, key_of(data), image.place)


def changed_uses(difference: Difference, places: Sequence[KindPointer] = ()) -> Iterator[ImageUse]:
    """Yield the images that differ. Images of one repository in one place of an object count as one that changed."""
    for verdict in difference.applications:
        for change in verdict.changes:
            old, new = (
                {use.place: use for use in uses_of(verdict.name, [side.content], places)} if side is not None else {}
                for side in (change.old, change.new)
            )
            for place in dict.fromkeys((*old, *new)):
                yield from _changed(old.get(place), new.get(place))


def _changed(old: ImageUse | None, new: ImageUse | None) -> Iterator[ImageUse]:
    if old is not None and new is not None:
        old_image, new_image = old.image, new.image
        if (old_image.registry, old_image.repository) == (new_image.registry, new_image.repository):
            if (old_image.tag, old_image.digest) != (new_image.tag, new_image.digest):
                yield ImageUse(new_image, new.application, new.object, new.place, "changed", old_image)
            return
    if old is not None:
        yield ImageUse(old.image, old.application, old.object, old.place, "removed")
    if new is not None:
        yield ImageUse(new.image, new.application, new.object, new.place, "added")
