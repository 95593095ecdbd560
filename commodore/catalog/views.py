"""Views of a catalog: its objects, and the images that they name."""

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
        key: what names it.
        api_version: the version of its API, such as `apps/v1`.
        file: the path of its file in the catalog.
        instance: the instance that made it; empty if that is not known.
    """

    key: ObjectKey
    api_version: str
    file: str
    instance: str


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """Where an image is named: the object, and the container or the field."""

    object: ListedObject
    place: str


@dataclass(frozen=True, slots=True)
class CatalogImage:
    """An image with all places that name it."""

    image: ImageReference
    places: tuple[ImagePlace, ...]


@dataclass(frozen=True, slots=True)
class ImageChange:
    """The images of one repository that are named on one side only."""

    repository: str
    removed: tuple[CatalogImage, ...]
    added: tuple[CatalogImage, ...]


def list_objects(objects: Iterable[PlacedObject]) -> tuple[ListedObject, ...]:
    """The objects, by kind, namespace and name; documents that are no objects are left out."""
    found = [_listed(one) for one in objects if is_object(one.content)]
    return tuple(sorted(found, key=lambda one: (one.key.kind, one.key, one.file)))


def is_object(content: Any) -> bool:
    """Whether a document says which kind of object it is."""
    return isinstance(content, dict) and bool(key_of(content).kind)


def _listed(one: PlacedObject) -> ListedObject:
    version = one.content.get("apiVersion")
    return ListedObject(key_of(one.content), version if isinstance(version, str) else "", one.file, one.source)


def list_images(objects: Iterable[PlacedObject]) -> tuple[CatalogImage, ...]:
    """The images that objects name, by name, each with all objects that name it."""
    found: dict[str, tuple[ImageReference, list[ImagePlace]]] = {}
    for one in objects:
        if is_object(one.content):
            for use in images_of(one.content):
                places = found.setdefault(use.image.text, (use.image, []))[1]
                places.append(ImagePlace(_listed(one), use.place))
    images = [
        CatalogImage(image, tuple(sorted(places, key=lambda one: (one.object.key, one.object.file, one.place))))
        for image, places in found.values()
    ]
    return tuple(sorted(images, key=lambda one: (one.image.registry, one.image.repository, one.image.text)))


def compare_images(old: Iterable[CatalogImage], new: Iterable[CatalogImage]) -> tuple[ImageChange, ...]:
    """Which images come and go, by repository."""
    before, after = {one.image.text: one for one in old}, {one.image.text: one for one in new}
    found: dict[str, tuple[list[CatalogImage], list[CatalogImage]]] = {}
    for side, ours, theirs in ((0, before, after), (1, after, before)):
        for text in ours.keys() - theirs.keys():
            image = ours[text].image
            found.setdefault(f"{image.registry}/{image.repository}", ([], []))[side].append(ours[text])
    return tuple(
        ImageChange(name, *(tuple(sorted(side, key=lambda one: one.image.text)) for side in found[name]))
        for name in sorted(found)
    )
