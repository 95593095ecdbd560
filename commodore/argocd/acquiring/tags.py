"""Revisions that are ranges of versions, and the tags that they mean."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable

from commodore.base.values.versions import Version, VersionProblem, parse_range, parse_version

_EXACT = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")


def is_range(wanted: str, prefix: str = "") -> bool:
    """Whether a revision says which versions fit, instead of naming one.

    Args:
        prefix: what tags begin with that are versions; with it, one version is a range of itself.
    """
    try:
        parse_range(wanted)
    except VersionProblem:
        return False
    return bool(prefix) or _EXACT.fullmatch(wanted) is None


def newest_tag(tags: Iterable[str], wanted: str, prefix: str = "") -> str | None:
    """The tag of the newest version that fits a range; None if none does.

    Args:
        prefix: as `is_range`.
    """
    known: dict[Version, str] = {}
    for tag in tags:
        if tag.startswith(prefix):
            with contextlib.suppress(VersionProblem):
                known.setdefault(parse_version(tag.removeprefix(prefix)), tag)
    newest = parse_range(wanted).highest(known)
    return known[newest] if newest is not None else None
