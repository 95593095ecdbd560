"""Revisions that are ranges of versions, and their tags."""

from __future__ import annotations

from collections.abc import Iterable

from commodore.base.values.versions import Version, VersionProblem, find_version, is_exact, parse_range


def is_range(revision: str, prefix: str = "") -> bool:
    """Check if a revision is a range of versions.

    Args:
        prefix: the prefix of tags that are versions; with it, a single version is a range, too.
    """
    try:
        parse_range(revision)
    except VersionProblem:
        return False
    return bool(prefix) or not is_exact(revision)


def newest_tag(tags: Iterable[str], revision: str, prefix: str = "") -> str | None:
    """Return the tag of the newest version in a range; None if no tag matches, or the range is invalid.

    Args:
        prefix: as in `is_range`.
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
