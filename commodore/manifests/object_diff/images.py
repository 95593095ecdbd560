"""Container images of objects: where they are named, and how two names compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_CONTAINERS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_DOCKER_HUB = "docker.io"


@dataclass(frozen=True, slots=True)
class Image:
    """The name of an image in its parts. `docker.io` and its `library` are spelt out; text is as it was written."""

    text: str
    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def is_pinned(self) -> bool:
        """Whether it names one version: a digest, or a tag other than `latest`."""
        return bool(self.digest) or self.tag not in ("", "latest")


@dataclass(frozen=True, slots=True)
class ImageUse:
    """An image that an object names: the container's name, or the path of the field."""

    place: str
    image: Image


def parse_image(text: str) -> Image:
    """The parts of an image's name. Any text has parts."""
    name, _, digest = text.partition("@")
    head, slash, rest = name.partition("/")
    if slash and ("." in head or ":" in head or head == "localhost"):
        registry, path = head, rest
    else:
        registry, path = _DOCKER_HUB, name
    repository, colon, tag = path.rpartition(":")
    if not colon or "/" in tag:
        repository, tag = path, ""
    if registry == _DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    return Image(text, registry, repository, tag, digest)


def images_of(content: Any) -> Iterator[ImageUse]:
    """The images of an object: those of containers, and any other field called `image` that holds a text."""
    pending: list[tuple[Any, str]] = [(content, "")]
    while pending:
        value, path = pending.pop()
        if isinstance(value, dict):
            image = value.get("image")
            if isinstance(image, str) and image.strip():
                parent = path.rpartition(".")[2].partition("[")[0]
                name = value.get("name")
                place = name if parent in _CONTAINERS and isinstance(name, str) else f"{path}.image".removeprefix(".")
                yield ImageUse(place, parse_image(image))
            pending += [(inner, f"{path}.{key}") for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            pending += [(inner, f"{path}[{index}]") for index, inner in reversed(list(enumerate(value)))]


_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)(.*)", re.DOTALL)


def goes_back(old: str, new: str) -> bool:
    """Whether a tag is an older version than another; never for tags that are no versions of one form."""
    before, after = _NUMBERS.fullmatch(old), _NUMBERS.fullmatch(new)
    if before is None or after is None:
        return False
    first, second = (tuple(map(int, match[1].split("."))) for match in (before, after))
    if len(first) != len(second) and (len(first) == 1 or len(second) == 1):
        return False
    if first != second:
        return second < first
    return not before[2] and after[2].startswith(("-rc", "-alpha", "-beta", "-pre"))
