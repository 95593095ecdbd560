"""Patches that write the same path, and patches whose values a narrower override replaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.base.diagnostics import Diagnostic
from commodore.base.events import Warned
from commodore.base.printable import counted
from commodore.fleet.findings import at, dotted, shown
from commodore.fleet.merging import Path_, leaves, overlap, same
from commodore.fleet.repository.config import Prefix, covers
from commodore.fleet.repository.model import App, Layer, PatchFile


@dataclass(frozen=True, slots=True)
class Writes:
    """The applied patches of a cell, in order, with their strategies."""

    cell: str
    files: Sequence[tuple[PatchFile, Mapping[Path_, str]]]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two patches that write the same path.

    Attributes:
        first, second: the patches in the order of application; the second wins.
        path, other: the path that each of them writes, equal or nested.
    """

    first: PatchFile
    second: PatchFile
    path: Path_
    other: Path_
    value: Any
    other_value: Any

    @property
    def equal(self) -> bool:
        return self.path == self.other and same(self.value, self.other_value)


def conflicts(first: PatchFile, second: PatchFile, appended: Mapping[Path_, str]) -> Iterator[Conflict]:
    """Yield the common paths of two patches.

    Args:
        appended: the paths to which both append, which is not a conflict.
    """
    for path, value in leaves(first.layer.values):
        for other, other_value in leaves(second.layer.values):
            if overlap(path, other) and not (path == other and path in appended):
                yield Conflict(first, second, path, other, value, other_value)


def describe_conflicts(cells: Iterable[Writes]) -> list[Warned | Diagnostic]:
    """Report patches that write the same path, each conflict once, with the number of its cells."""
    counts: dict[tuple[str, str, Path_, Path_], tuple[Conflict, int]] = {}
    known: dict[tuple[PatchFile, PatchFile], list[Conflict]] = {}
    for cell in cells:
        seen = set()
        for number, (second, strategies) in enumerate(cell.files):
            for first, others in cell.files[:number]:
                if first.name == second.name and first.place.split("/")[:3] == second.place.split("/")[:3]:
                    continue  # copies of the same patch
                if (first, second) not in known:
                    both = {
                        path: ""
                        for path, word in strategies.items()
                        if word != "replace" and others.get(path, "replace") != "replace"
                    }
                    known[first, second] = list(conflicts(first, second, both))
                for conflict in known[first, second]:
                    key = (first.name, second.name, conflict.path, conflict.other)
                    if key not in seen:
                        seen.add(key)
                        counts[key] = (
                            counts[key][0] if key in counts else conflict,
                            counts.get(key, (conflict, 0))[1] + 1,
                        )
    return [_describe(conflict, number) for conflict, number in counts.values()]


def _describe(conflict: Conflict, cells: int) -> Warned | Diagnostic:
    first, second = conflict.first.layer.at(conflict.path), conflict.second.layer.at(conflict.other)
    path = (
        dotted(conflict.path)
        if conflict.path == conflict.other
        else f"{dotted(conflict.path)} and {dotted(conflict.other)}"
    )
    where = counted(cells, "cell")
    if conflict.equal:
        message = f"{at(first)} and {at(second)} both set {path} in {where} to {shown(conflict.value)}"
        return Diagnostic("CMD-FLT-043", message, "info")
    return Warned(
        "CMD-FLT-040",
        f"{at(first)} and {at(second)} both set {path} in {where}: {shown(conflict.value)}, "
        f"{shown(conflict.other_value)}; the latter wins",
        "let one of them go first, or depend on the other",
    )


def overridden(cells: Iterable[tuple[Prefix, PatchFile, App]]) -> list[Diagnostic]:
    """Report patches without effect because a narrower override sets the same path.

    Args:
        cells: the cell, patch and application of each application of a patch.
    """
    counts: dict[tuple[str, str, str], int] = {}
    known: dict[tuple[PatchFile, Layer], list[tuple[Path_, Path_]]] = {}
    for cell, file, app in cells:
        for depth, level in enumerate(app.levels(cell), 1):
            for layer in (
                level if file.prefix is not None and depth > len(file.prefix) and covers(file.prefix, cell) else ()
            ):
                if (file, layer) not in known:
                    known[file, layer] = _losses(file, layer)
                for path, other in known[file, layer]:
                    key = (file.name, dotted(path), at(layer.at(other)))
                    counts[key] = counts.get(key, 0) + 1
    return [
        Diagnostic(
            "CMD-FLT-041",
            f"{name} sets {path} in {counted(number, 'cell')}, where {place} overrides it",
            "info",
        )
        for (name, path, place), number in counts.items()
    ]


def _losses(file: PatchFile, layer: Layer) -> list[tuple[Path_, Path_]]:
    theirs = list(leaves(layer.values))
    return [
        (path, other)
        for path, value in leaves(file.layer.values)
        for other, wins in theirs
        if overlap(path, other) and not (path == other and same(value, wins))
    ]
