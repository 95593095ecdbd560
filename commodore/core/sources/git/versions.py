"""Validation of versions of a repository."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from commodore.base.errors import EnvironmentFault, InputError, did_you_mean
from commodore.core.sources.git.urls import shown


def check_version(version: str, place: str) -> None:
    """Refuse a version that git could read as an option, or that is not a valid name.

    Raises:
        InputError: the version is invalid.
    """
    if version.startswith("-") or not version.isprintable() or not version.strip():
        raise InputError(
            "CMD-GIT-031",
            f"'{shown(version)}' cannot be a version of {place}",
            hint="a version is a branch, a tag or a commit; it is not empty and does not begin with '-'",
        )


def unknown_version(version: str, place: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown version of a repository; `known` are all its names."""
    hint = did_you_mean(version, known) or "name a branch, a tag or a commit of it"
    return InputError("CMD-GIT-030", f"the version '{shown(version)}' was not found in {place}", hint=hint)


def unknown_offline(version: str, place: str, clone: Path) -> EnvironmentFault:
    """Return the error for a version that a clone lacks in offline mode."""
    return EnvironmentFault(
        "CMD-GIT-025",
        f"the version '{shown(version)}' of {place} is not in its clone, and offline it cannot be fetched",
        hint="run once without offline mode, with the network there",
        locations=[str(clone)],
    )
