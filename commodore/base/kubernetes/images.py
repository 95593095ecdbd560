"""References of container images and of other artefacts in registries.

`parse_image` splits any text, for reports that print it as written. `read_image` validates and completes a reference,
so that two spellings of an image are equal. `read_artefact` takes a reference with an explicit registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from commodore.base.limits import DEFAULT_LIMITS

_DOCKER_HUB: Final = "docker.io"
_DOCKER_HUB_NAMES: Final = frozenset({_DOCKER_HUB, "index.docker.io", "registry-1.docker.io"})
_SCHEMES: Final = ("oci://", "docker://")
_TAG: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"
_IMAGE_TAG: Final = re.compile(_TAG)
_IMAGE_HOST: Final = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9._-]*)(?::[0-9]{1,5})?")
_IMAGE_PART: Final = re.compile(r"[a-z0-9_][a-z0-9._-]*")
_HEX_DIGITS: Final = {"sha256": 64, "sha512": 128}
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_DIGEST: Final = r"sha256:[0-9a-f]{64}"
_ARTEFACT: Final = re.compile(
    rf"(?:oci://)?(?P<registry>{_HOST})/(?P<repository>{_PART}(?:/{_PART})*)(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?"
)
_LONGEST_ARTEFACT: Final = 512  # characters


class InvalidImageError(ValueError):
    """The text is not a reference of an image; the message has the reason."""


@dataclass(frozen=True, slots=True, order=True)
class ImageVersion:
    """The tag, the digest, or both, of an image; with neither it is unversioned."""

    tag: str = ""
    digest: str = ""

    def __bool__(self) -> bool:
        return bool(self.tag or self.digest)

    def __str__(self) -> str:
        return f"{self.tag}@{self.digest}" if self.tag and self.digest else self.tag or self.digest

    def as_plain(self) -> str:
        """Convert to a text for JSON; see `commodore.base.documents.plain`."""
        return str(self)

    def matches(self, known: ImageVersion) -> bool:
        """Compare a deployed version with a known one. Digests decide if both have one."""
        if self.digest and known.digest:
            return self.digest == known.digest
        return bool(self.tag) and self.tag == known.tag


@dataclass(frozen=True, slots=True, order=True)
class ImageReference:
    """A repository in a registry, and a tag or a digest or both in it; both empty for the repository itself.

    Attributes:
        registry: a host, with its port if it has one.
        repository: the path in the registry.
        text: the reference as written, if it was kept.
    """

    json_properties: ClassVar = ("is_pinned",)

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.name}{f':{self.tag}' if self.tag else ''}{f'@{self.digest}' if self.digest else ''}"

    @property
    def name(self) -> str:
        """The registry and the repository."""
        return f"{self.registry}/{self.repository}"

    @property
    def version(self) -> ImageVersion:
        """The tag and the digest."""
        return ImageVersion(self.tag, self.digest)

    @property
    def is_pinned(self) -> bool:
        """True if it names a single version: a digest, or a tag other than `latest`."""
        return bool(self.digest) or self.tag not in ("", "latest")

    def at(self, version: str) -> ImageReference:
        """Return the same repository at a tag or a digest. The ``+`` of a version is ``_`` in a tag.

        Raises:
            InvalidImageError: the version is not valid as either.
        """
        if re.fullmatch(_DIGEST, version):
            return ImageReference(self.registry, self.repository, digest=version)
        tag = version.replace("+", "_")
        if not _IMAGE_TAG.fullmatch(tag):
            raise InvalidImageError("invalid tag")
        return ImageReference(self.registry, self.repository, tag)


def split_image(text: str) -> tuple[str, str, str]:
    """Split a reference, as written, into name, tag and digest; missing parts are empty."""
    rest, _, digest = text.partition("@")
    name, colon, tag = rest.rpartition(":")
    return (name, tag, digest) if colon and "/" not in tag else (rest, "", digest)


def parse_image(text: str) -> ImageReference:
    """Split a reference without validation. `docker.io` and its `library` are filled in."""
    name, tag, digest = split_image(text)
    registry, repository = _split_name(name)
    if registry == _DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    return ImageReference(registry, repository, tag, digest, text)


def read_image(text: str) -> ImageReference:
    """Parse a reference as in a Pod into canonical form (`docker.io/library/nginx`).

    Raises:
        InvalidImageError: it is invalid.
    """
    text = text.strip()
    if len(text) > DEFAULT_LIMITS.image_length:
        raise InvalidImageError(f"longer than {DEFAULT_LIMITS.image_length} characters")
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise InvalidImageError("has control characters")
    name, tag, digest = split_image(text)
    if "@" in text:
        algorithm, _, digits = digest.partition(":")
        if _HEX_DIGITS.get(algorithm) != len(digits) or not re.fullmatch(r"[0-9a-fA-F]+", digits):
            raise InvalidImageError("invalid digest")
        digest = f"{algorithm}:{digits.lower()}"
    if ":" in text.partition("@")[0].rpartition("/")[2] and not _IMAGE_TAG.fullmatch(tag):
        raise InvalidImageError("invalid tag")
    registry, repository = _canonical_name(name)
    return ImageReference(registry, repository, tag, digest)


def read_images(texts: Iterable[str]) -> tuple[tuple[ImageReference, ...], tuple[str, ...]]:
    """Parse references. Returns the images and the invalid texts; each once, sorted."""
    images, invalid = set(), set()
    for text in texts:
        try:
            images.add(read_image(text))
        except InvalidImageError:
            invalid.add(text)
    return tuple(sorted(images)), tuple(sorted(invalid))


def read_repository(url: str) -> ImageReference:
    """Parse the repository in a URL with or without a scheme, into canonical form.

    Raises:
        InvalidImageError: it has no valid repository.
    """
    url = url.strip()
    for scheme in _SCHEMES:
        url = url.removeprefix(scheme)
    image = read_image(url)
    return ImageReference(image.registry, image.repository)


def read_artefact(text: str) -> ImageReference:
    """Parse a reference by the grammar of registries, with or without ``oci://``. The registry is required.

    Raises:
        InvalidImageError: it is invalid, or names a user or a password.
    """
    match = _ARTEFACT.fullmatch(text.rstrip("/")) if len(text) <= _LONGEST_ARTEFACT else None
    if match is None:
        raise InvalidImageError("invalid reference")
    return ImageReference(match["registry"].lower(), match["repository"], match["tag"] or "", match["digest"] or "")


def _split_name(name: str) -> tuple[str, str]:
    head, slash, rest = name.partition("/")
    has_registry = slash and ("." in head or ":" in head or head == "localhost")
    return (head, rest) if has_registry else (_DOCKER_HUB, name)


def _canonical_name(name: str) -> tuple[str, str]:
    first, slash, _ = name.partition("/")
    if slash and first != first.lower() and "." not in first and ":" not in first:
        raise InvalidImageError("upper case in its first part, which may be a registry or not")
    registry, repository = _split_name(name.lower())
    if registry in _DOCKER_HUB_NAMES:
        registry = _DOCKER_HUB
        repository = repository if "/" in repository else f"library/{repository}"
    if not _IMAGE_HOST.fullmatch(registry):
        raise InvalidImageError("invalid registry")
    if not all(_IMAGE_PART.fullmatch(part) for part in repository.split("/")):
        raise InvalidImageError("invalid repository")
    return registry, repository
