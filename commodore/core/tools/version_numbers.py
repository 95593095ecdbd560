"""Versions printed by tools or given by users."""

from __future__ import annotations

from commodore.base.errors import InputError
from commodore.base.values.versions import Version, find_version, is_exact

_LONGEST = 200  # characters


def tool_version(text: str | None) -> Version | None:
    """Parse the version that a tool prints (`v4.1.4+g05fa379`, also `5.7`), without its build; None if invalid."""
    release = (text or "").partition("+")[0]
    return find_version(release) if "." in release and len(release) <= _LONGEST else None


def named_version(text: str) -> Version:
    """Parse a version given by a user, with all three numbers, with or without `v`.

    Raises:
        InputError: CMD-TOOL-006, it is invalid.
    """
    version = tool_version(text)
    if version is None or not is_exact(text) or "+" in text:
        raise InputError("CMD-TOOL-006", f"{text!r} is not a version", hint="write it like 4.1.4 or v4.1.4")
    return version
