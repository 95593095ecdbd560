"""The container images in objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.base.kubernetes.images import ImageReference, parse_image
from commodore.core.review.pointers import KindPointer

_CONTAINERS = frozenset({"containers", "initContainers", "ephemeralContainers"})


@dataclass(frozen=True, slots=True)
class ImageUse:
    """An image in an object: the container's name, or the path of the field."""

    place: str
    image: ImageReference


def images_of(content: Any, places: Sequence[KindPointer] = ()) -> Iterator[ImageUse]:
    """Yield the images of an object: of containers, and of fields, variables and arguments with a name for images.

    Args:
        places: further fields with images.
    """
    for place in places:
        for path, text in place.values(content):
            if isinstance(text, str) and text.strip():
                yield ImageUse(path, parse_image(text))
    pending: list[tuple[Any, str]] = [(content, "")]
    while pending:
        value, path = pending.pop()
        if isinstance(value, dict):
            yield from _of_map(value, path)
            pending += [(inner, f"{path}.{key}") for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            for item in value:
                option, _, text = item.partition("=") if isinstance(item, str) else ("", "", "")
                if option.startswith("-") and _NAMED.search(option) and _LIKE_IMAGE.fullmatch(text):
                    yield ImageUse(f"{path}[{option}]".removeprefix("."), parse_image(text))
            pending += [(inner, f"{path}[{index}]") for index, inner in reversed(list(enumerate(value)))]


def _of_map(value: dict[Any, Any], path: str) -> Iterator[ImageUse]:
    name, parent = value.get("name"), path.rpartition(".")[2].partition("[")[0]
    for key, text in value.items():
        if not isinstance(text, str) or not isinstance(key, str) or not text.strip():
            continue
        if key == "image":
            is_container = parent in _CONTAINERS and isinstance(name, str)
            place = str(name) if is_container else f"{path}.image".removeprefix(".")
            yield ImageUse(place, parse_image(_with_version(text, value)))
        elif key == "value" and isinstance(name, str) and _NAMED.search(name) and _LIKE_IMAGE.fullmatch(text):
            yield ImageUse(f"{path}[{name}]".removeprefix("."), parse_image(text))
        elif key.endswith("Image") and _LIKE_IMAGE.fullmatch(text):
            yield ImageUse(f"{path}.{key}".removeprefix("."), parse_image(text))


def _with_version(image: str, siblings: dict[Any, Any]) -> str:
    """Return an image with the tag or digest of a sibling field, as in the resources of operators."""
    parsed = parse_image(image)
    texts = (siblings.get(key) for key in ("tag", "version"))
    version = next((text for text in texts if isinstance(text, str) and text), "")
    if parsed.tag or parsed.digest or not version:
        return image
    return f"{image}@{version}" if version.startswith("sha256:") else f"{image}:{version}"


_NAMED = re.compile(r"(?:^|[-_])image$|^RELATED_IMAGE_|config-reloader$", re.IGNORECASE)
"""Variables and program options whose values are images."""
_LIKE_IMAGE = re.compile(r"[\w][\w.:-]*(?:/[\w.-]+)+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?|[\w.-]+:[\w.-]+")
