"""What can be a version of a repository."""

from __future__ import annotations

from commodore.errors import InputError
from commodore.git.urls import shown


def check_version(version: str, place: str) -> None:
    """Refuse a version that git could read as an option, or that cannot be a name.

    Raises:
        InputError: it is such a version.
    """
    if version.startswith("-") or not version.isprintable() or not version.strip():
        raise InputError(
            "CMD-GIT-031",
            f"'{shown(version)}' cannot be a version of {place}",
            hint="a version is a branch, a tag or a commit; it is not empty and does not begin with '-'",
        )
