"""Diagnostics about files of sources that git ignores, and that Argo CD does not have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from commodore.argocd.rendering.model import Unit
from commodore.argocd.trees import covers
from commodore.base.errors import Location
from commodore.base.printable import some_of

_OF_CHARTS = frozenset(
    ("Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock", "values.yaml", "values.schema.json")
)
_FOLDERS_OF_CHARTS = frozenset(("templates", "charts", "crds"))
_SHOWN_PLACES = 10


def report_left_out(unit: Unit, paths: Iterable[str]) -> None:
    """Report files of a source that are skipped because git ignores them."""
    if names := _names(unit, paths):
        unit.note(
            "CMD-ARGO-009",
            f"git ignores files of the source, so Argo CD does not have them, and they are skipped: {some_of(names)}",
            "warning",
            "track them with git, or move them away",
            _places(names),
        )


def report_read(unit: Unit, paths: Iterable[str]) -> None:
    """Report files that a source reads and that git ignores."""
    if names := _names(unit, (path for path in paths if covers(unit.ignored, os.path.normpath(path)))):
        unit.note(
            "CMD-ARGO-009",
            f"the source reads files that git ignores, so Argo CD does not have them: {some_of(names)}",
            "warning",
            "track them with git, or check the result without them",
            _places(names),
        )


def chart_files(unit: Unit) -> Iterator[str]:
    """Yield the ignored files and folders of a source's folder that helm reads as parts of its chart."""
    for path, name in _below(unit):
        parts = name.split("/")
        if (len(parts) == 1 and name in _OF_CHARTS) or parts[0] in _FOLDERS_OF_CHARTS:
            yield path


def _below(unit: Unit) -> Iterator[tuple[str, str]]:
    folder = f"{unit.folder}/"
    return ((path, path.removeprefix(folder)) for path in unit.ignored if path.startswith(folder))


def _names(unit: Unit, paths: Iterable[str]) -> list[str]:
    return sorted({os.path.relpath(path, unit.root) for path in paths})


def _places(names: list[str]) -> tuple[Location, ...]:
    return tuple(Location(name) for name in names[:_SHOWN_PLACES] if not name.startswith(".."))
