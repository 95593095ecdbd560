"""References of container images, read so that two spellings of one image are equal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from commodore.base.limits import DEFAULT_LIMITS

_DOCKER_HUB = "docker.io"
_DOCKER_HUB_NAMES = frozenset({_DOCKER_HUB, "index.docker.io", "registry-1.docker.io"})
_SCHEMES = ("oci://", "docker://")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9._-]*)(?::[0-9]{1,5})?")
_PART = re.compile(r"[a-z0-9_][a-z0-9._-]*")
_HEX_DIGITS = {"sha256": 64, "sha512": 128}


class InvalidImageError(ValueError):
    """The text is no reference of an image; the message says why."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """Which image of a repository: a tag, a digest, or both. With neither it is unversioned."""

    tag: str = ""
    digest: str = ""

    def __bool__(self) -> bool:
        return bool(self.tag or self.digest)

    def __str__(self) -> str:
        return f"{self.tag}@{self.digest}" if self.tag and self.digest else self.tag or self.digest

    def matches(self, known: Version) -> bool:
        """Whether this deployed version is the known one. Digests decide where both sides have one."""
        if self.digest and known.digest:
            return self.digest == known.digest
        return bool(self.tag) and self.tag == known.tag


@dataclass(frozen=True, slots=True, order=True)
class Image:
    """One image: its repository in canonical form (`docker.io/library/nginx`) and its version."""

    repository: str
    version: Version

    def __str__(self) -> str:
        tag = f":{self.version.tag}" if self.version.tag else ""
        return self.repository + tag + (f"@{self.version.digest}" if self.version.digest else "")


def read_image(text: str) -> Image:
    """Read a reference as it stands in a Pod.

    Raises:
        InvalidImageError: it is none.
    """
    text = text.strip()
    if len(text) > DEFAULT_LIMITS.image_length:
        raise InvalidImageError(f"longer than {DEFAULT_LIMITS.image_length} characters")
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise InvalidImageError("has control characters")
    name, at, digest = text.partition("@")
    if at:
        digest = _digest(digest)
    tag = ""
    if ":" in name.rpartition("/")[2]:
        name, _, tag = name.rpartition(":")
        if not _TAG.fullmatch(tag):
            raise InvalidImageError("its tag is none")
    return Image(_repository(name), Version(tag, digest))


def read_images(texts: Iterable[str]) -> tuple[tuple[Image, ...], tuple[str, ...]]:
    """The images that some references name, and the texts that are none; each once, sorted."""
    images, invalid = set(), set()
    for text in texts:
        try:
            images.add(read_image(text))
        except InvalidImageError:
            invalid.add(text)
    return tuple(sorted(images)), tuple(sorted(invalid))


def read_repository(url: str) -> str:
    """The repository that a subscription or a Freight names, in canonical form.

    Raises:
        InvalidImageError: it names none.
    """
    url = url.strip()
    for scheme in _SCHEMES:
        url = url.removeprefix(scheme)
    return read_image(url).repository


def _digest(text: str) -> str:
    algorithm, _, digits = text.partition(":")
    if _HEX_DIGITS.get(algorithm) != len(digits) or not re.fullmatch(r"[0-9a-fA-F]+", digits):
        raise InvalidImageError("its digest is none")
    return f"{algorithm}:{digits.lower()}"


def _repository(name: str) -> str:
    first, slash, rest = name.partition("/")
    if slash and first != first.lower() and "." not in first and ":" not in first:
        raise InvalidImageError("upper case in its first part, which may be a registry or not")
    first, rest = first.lower(), rest.lower()
    if slash and ("." in first or ":" in first or first == "localhost"):
        host, path = first, rest
    else:
        host, path = _DOCKER_HUB, name.lower()
    if host in _DOCKER_HUB_NAMES:
        host = _DOCKER_HUB
        path = path if "/" in path else f"library/{path}"
    if not _HOST.fullmatch(host):
        raise InvalidImageError("its registry is none")
    if not all(_PART.fullmatch(part) for part in path.split("/")):
        raise InvalidImageError("its repository is none")
    return f"{host}/{path}"
