"""Errors about what lies in a throw-away folder as errors about the author's own files, which are to be corrected."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from commodore.errors import CommodoreError, Findings, Location


@contextlib.contextmanager
def places_at_home(folder: Path) -> Iterator[None]:
    """Let errors out with the places that are there when the folder has gone.

    Raises:
        CommodoreError: the one that was raised, as `at_home` makes it.
    """
    try:
        yield
    except CommodoreError as error:
        raise at_home(error, folder) from error


def at_home(error: CommodoreError, folder: Path, copies: tuple[Path, Path] | None = None) -> CommodoreError:
    """The same error without paths into a folder that is about to be removed.

    A link of the hierarchy becomes the file that it leads to. What was fetched into the folder, and the author has not,
    gets its path in the folder, as `dependencies/c-one/class/c-one.yml`.

    Args:
        folder: without links in its path; it is still there.
        copies: where a copy of the author's files lies in the folder, and where they lie themselves.
    """
    if isinstance(error, Findings):
        return Findings(at_home(one, folder, copies) for one in error.errors)

    def name(path: str) -> str:
        place = Path(path).resolve()
        if copies is not None and place.is_relative_to(copies[0]):
            place = copies[1] / place.relative_to(copies[0])
        return str(place.relative_to(folder) if place.is_relative_to(folder) else place)

    inside = re.compile(rf"(?<![^\s'\"`(=:,]){re.escape(str(folder))}/[^\s'\"`():,;]+")

    def correct(text: str) -> str:
        if copies is not None:  # without the pattern: the author's path may hold blanks
            text = text.replace(str(copies[0]), str(copies[1]))
        return inside.sub(lambda match: name(match[0]), text)

    locations = [
        Location(name(one.place) if Path(one.place).is_relative_to(folder) else one.place, one.line, one.column)
        for one in error.locations
    ]
    return type(error)(error.code, correct(error.message), hint=correct(error.hint), locations=locations)
