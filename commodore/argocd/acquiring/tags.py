"""Revisions that are ranges of versions, and the tags that they mean."""

from __future__ import annotations

from collections.abc import Iterable

from commodore.base.values.versions import Version, VersionProblem, find_version, is_exact, parse_range


def is_range(revision: str, prefix: str = "") -> bool:
    """Whether a revision says which versions fit, instead of naming one.

    Args:
        prefix: what tags begin with that are versions; with it, one version is a range of itself.
    """
    try:
        parse_range(revision)
    except VersionProblem:
        return False
    return bool(prefix) or not is_exact(revision)


def newest_tag(tags: Iterable[str], revision: str, prefix: str = "") -> str | None:
    """The tag of the newest version that fits a range; None if none does, or the range is invalid.

    Args:
        prefix: as `is_range`.
    """
    versions: dict[Version, str] = {}
    for tag in tags:
        if tag.startswith(prefix) and (version := find_version(tag.removeprefix(prefix))) is not None:
            versions.setdefault(version, tag)
    try:
        newest = parse_range(revision).highest(versions)
    except VersionProblem:
        return None
    return versions[newest] if newest is not None else None
