"""Names of what registries hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from commodore.base.errors import InputError
from commodore.base.printable import printable

_HOST: Final = (
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])"
)
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE: Final = re.compile(
    rf"(?:oci://)?(?P<registry>{_HOST}(?::[0-9]+)?)/(?P<repository>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LONGEST: Final = 512


@dataclass(frozen=True, slots=True)
class Reference:
    """A repository in a registry, and what is meant in it: a tag or a digest; both empty for the repository itself."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.registry}/{self.repository}{tag}{'@' + self.digest if self.digest else ''}"

    @property
    def version(self) -> str:
        """What is asked for: the digest, else the tag, else ``latest``."""
        return self.digest or self.tag or "latest"

    def at(self, version: str) -> Reference:
        """The same repository at a tag or a digest. The ``+`` of a version is ``_`` in a tag.

        Raises:
            InputError: CMD-OCI-001, it is none.
        """
        if _DIGEST.fullmatch(version):
            return Reference(self.registry, self.repository, digest=version)
        tag = version.replace("+", "_")
        if not _TAG.fullmatch(tag):
            raise _bad(f"{self.registry}/{self.repository}:{version}")
        return Reference(self.registry, self.repository, tag)


def parse_reference(text: str) -> Reference:
    """A reference, with or without ``oci://``.

    Raises:
        InputError: CMD-OCI-001, it is none. User names and passwords have no place in it.
    """
    match = _REFERENCE.fullmatch(text.rstrip("/")) if len(text) <= _LONGEST else None
    if match is None:
        raise _bad(text)
    return Reference(match["registry"].lower(), match["repository"], match["tag"] or "", match["digest"] or "")


def _bad(text: str) -> InputError:
    shown = re.sub(r"//[^/@]*@", "//", text[:_LONGEST])
    return InputError(
        "CMD-OCI-001",
        f"{printable(shown)!r} is no reference to a registry",
        hint="write oci://registry.example.com/team/chart, in lower case, with a tag or a digest if one is meant",
    )
