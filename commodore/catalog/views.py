"""Views of a catalog: its objects, and their images."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.kubernetes.images import ImageReference
from commodore.core.review import PlacedObject, images_of


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object of a catalog.

    Attributes:
        key: its key.
        api_version: the version of its API, such as `apps/v1`.
        file: the path of its file in the catalog.
        instance: its instance; empty if it is unknown.
    """

    key: ObjectKey
    api_version: str
    file: str
    instance: str


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """A use of an image: the object, and the container or the field."""

    object: ListedObject
    place: str


@dataclass(frozen=True, slots=True)
class CatalogImage:
    """An image with all its uses."""

    image: ImageReference
    places: tuple[ImagePlace, ...]


@dataclass(frozen=True, slots=True)
class ImageChange:
    """The images of one repository that are used on one side only."""

    repository: str
    removed: tuple[CatalogImage, ...]
    added: tuple[CatalogImage, ...]


def list_objects(objects: Iterable[PlacedObject]) -> tuple[ListedObject, ...]:
    """Return the objects, sorted by kind, namespace and name; other documents are skipped."""
    listed = [_listed(placed) for placed in objects if is_object(placed.content)]
    return tuple(
        sorted(listed, key=lambda listed_object: (listed_object.key.kind, listed_object.key, listed_object.file))
    )


def is_object(content: Any) -> bool:
    """Check if a document is an object: it has a kind."""
    return isinstance(content, dict) and bool(key_of(content).kind)


def _listed(placed: PlacedObject) -> ListedObject:
    version = placed.content.get("apiVersion")
    return ListedObject(key_of(placed.content), version if isinstance(version, str) else "", placed.file, placed.source)


def list_images(objects: Iterable[PlacedObject]) -> tuple[CatalogImage, ...]:
    """Return the images of objects, sorted by name, each with all its uses."""
    uses: dict[str, tuple[ImageReference, list[ImagePlace]]] = {}
    for placed in objects:
        if is_object(placed.content):
            for use in images_of(placed.content):
                places = uses.setdefault(use.image.text, (use.image, []))[1]
                places.append(ImagePlace(_listed(placed), use.place))
    images = [
        CatalogImage(image, tuple(sorted(places, key=lambda place: (place.object.key, place.object.file, place.place))))
        for image, places in uses.values()
    ]
    return tuple(sorted(images, key=lambda image: (image.image.registry, image.image.repository, image.image.text)))


def compare_images(old: Iterable[CatalogImage], new: Iterable[CatalogImage]) -> tuple[ImageChange, ...]:
    """Return the added and removed images by repository."""
    before, after = {image.image.text: image for image in old}, {image.image.text: image for image in new}
    changes: dict[str, tuple[list[CatalogImage], list[CatalogImage]]] = {}
    for side, ours, theirs in ((0, before, after), (1, after, before)):
        for text in ours.keys() - theirs.keys():
            image = ours[text].image
            changes.setdefault(f"{image.registry}/{image.repository}", ([], []))[side].append(ours[text])
    return tuple(
        ImageChange(name, *(tuple(sorted(side, key=lambda image: image.image.text)) for side in changes[name]))
        for name in sorted(changes)
    )
