"""Places of rendering errors, as paths in the repository under analysis."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from commodore.base.errors import CommodoreError, Findings, Location

_OF_CHART = re.compile(
    r"(?<![\w/.-])[\w.-]+/(?P<path>(?:templates|charts|crds)/[^\s:\"'()]+)(?::(?P<line>\d+))?(?::(?P<column>\d+))?"
)
_OF_KUSTOMIZATION = re.compile(r"(?<!\S)(?P<path>\S+) is not valid YAML: (?:line (?P<line>\d+))?")


def placed(error: CommodoreError, folder: Path, root: Path, source: Location) -> CommodoreError:
    """Return an error whose places and files of charts in its message are relative to the root of the repository.

    Args:
        error: its places are relative to the folder, or are not files.
        folder: the source's folder.
        root: the root of the repository, which contains the folder.
        source: the place of the source, which comes first if no other place is in the repository.
    """
    if isinstance(error, Findings):
        return Findings(placed(inner, folder, root, source) for inner in error.errors)

    def in_chart(match: re.Match[str]) -> str:
        path = _in_repository(match["path"], folder, root)
        return match[0] if path is None else path + match[0].partition(match["path"])[2]

    files = [*_relative(error.locations, folder, root)]
    others = [location for location in error.locations if _in_repository(location.place, folder, root) is None]
    files = files or [*_relative(_named(error.message), folder, root)][:1] or [source]
    message = _OF_CHART.sub(in_chart, error.message)
    return type(error)(error.code, message, hint=error.hint, locations=[*dict.fromkeys((*files, *others))])


def _relative(places: Iterator[Location] | tuple[Location, ...], folder: Path, root: Path) -> Iterator[Location]:
    for location in places:
        path = _in_repository(location.place, folder, root)
        if path is not None:
            yield replace(location, place=path)


def _in_repository(place: str, folder: Path, root: Path) -> str | None:
    """Return the path below the root of a file that is named relative to the folder, or None if it does not exist."""
    path = os.path.relpath(folder / place, root)
    return path if path.split("/")[0] != ".." and os.path.isfile(root / path) else None


def _named(message: str) -> Iterator[Location]:
    """Yield the files that a message of helm or kustomize names, relative to the folder of the source."""
    for pattern in (_OF_CHART, _OF_KUSTOMIZATION):
        for match in pattern.finditer(message):
            parts = match.groupdict()
            line, column = parts.get("line"), parts.get("column")
            yield Location(parts["path"] or "", int(line) if line else None, int(column) if column else None)
