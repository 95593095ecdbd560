"""References of artefacts, with errors of this module's family."""

from __future__ import annotations

import re
from typing import Final

from commodore.base.errors import InputError
from commodore.base.kubernetes.images import ImageReference, InvalidImageError, read_artefact
from commodore.base.printable import printable

_SHOWN: Final = 512  # characters


def parse_reference(text: str) -> ImageReference:
    """Parse a reference, with or without ``oci://``.

    Raises:
        InputError: CMD-OCI-001, it is invalid, or has a user name or password.
    """
    try:
        return read_artefact(text)
    except InvalidImageError as error:
        raise _bad(text) from error


def at_version(reference: ImageReference, version: str) -> ImageReference:
    """Return the same repository at a tag or a digest.

    Raises:
        InputError: CMD-OCI-001, the version is neither of them.
    """
    try:
        return reference.at(version)
    except InvalidImageError as error:
        raise _bad(f"{reference.name}:{version}") from error


def _bad(text: str) -> InputError:
    shown = re.sub(r"//[^/@]*@", "//", text[:_SHOWN])
    return InputError(
        "CMD-OCI-001",
        f"{printable(shown)!r} is not a reference to a registry",
        hint="write oci://registry.example.com/team/chart, in lower case, with a tag or a digest if one is meant",
    )
