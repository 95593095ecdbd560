"""Places of errors of a rendering, as paths in the repository under analysis."""

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
    """An error with its places, and the files of charts in its message, below the root of the repository.

    Args:
        error: its places are relative to the folder, or are not files.
        folder: the source's folder.
        root: that of the repository; the folder is in it.
        source: where the source is written, which is the first place if nothing else is in the repository.
    """
    if isinstance(error, Findings):
        return Findings(placed(one, folder, root, source) for one in error.errors)

    def in_chart(match: re.Match[str]) -> str:
        path = _in_repository(match["path"], folder, root)
        return match[0] if path is None else path + match[0].partition(match["path"])[2]

    files = [*_relative(error.locations, folder, root)]
    others = [one for one in error.locations if _in_repository(one.place, folder, root) is None]
    files = files or [*_relative(_named(error.message), folder, root)][:1] or [source]
    message = _OF_CHART.sub(in_chart, error.message)
    return type(error)(error.code, message, hint=error.hint, locations=[*dict.fromkeys((*files, *others))])


def _relative(places: Iterator[Location] | tuple[Location, ...], folder: Path, root: Path) -> Iterator[Location]:
    for one in places:
        path = _in_repository(one.place, folder, root)
        if path is not None:
            yield replace(one, place=path)


def _in_repository(place: str, folder: Path, root: Path) -> str | None:
    """The path below the root of a file that is named relative to the folder; None if there is no such file."""
    path = os.path.relpath(folder / place, root)
    return path if path.split("/")[0] != ".." and os.path.isfile(root / path) else None


def _named(message: str) -> Iterator[Location]:
    """The files that a message of helm or kustomize names, relative to the folder of the source."""
    for pattern in (_OF_CHART, _OF_KUSTOMIZATION):
        for match in pattern.finditer(message):
            parts = match.groupdict()
            line, column = parts.get("line"), parts.get("column")
            yield Location(parts["path"] or "", int(line) if line else None, int(column) if column else None)
