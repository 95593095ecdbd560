"""Where all patches of a fleet are, and which versions its cells have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from commodore.fleet.cells import Merger
from commodore.fleet.dependencies import wanted_revision
from commodore.fleet.findings import Report
from commodore.fleet.patches import covered, gaps
from commodore.fleet.promotion.changing import Found
from commodore.fleet.promotion.gates import applications_of, manual_nodes
from commodore.fleet.promotion.next_place import next_prefix
from commodore.fleet.promotion.status_file import FleetState
from commodore.fleet.repository.config import Prefix, in_path
from commodore.fleet.repository.model import APPLICATIONS, Fleet


@dataclass(frozen=True, slots=True)
class PatchStatus:
    """Where a patch is.

    Attributes:
        reached, cells: how many cells have it, of how many.
        place: where it goes next, if it is not everywhere.
        gate: the first node on its way there that a person has to approve.
        skipped: cells that it has left out.
        ready: how many of its cells are healthy; None if nothing is known.
    """

    patch: str
    reached: int
    cells: int
    placements: tuple[str, ...]
    place: str | None
    gate: str | None
    skipped: tuple[str, ...]
    ready: int | None

    def as_dict(self) -> dict[str, Any]:
        """The status as JSON-ready data."""
        return {
            "patch": self.patch,
            "reached": self.reached,
            "cells": self.cells,
            "placements": list(self.placements),
            "next": self.place,
            "gate": self.gate,
            "skipped": list(self.skipped),
            "ready": self.ready,
        }


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of a fleet.

    Attributes:
        versions: the version by type, application and cell.
        report: conflicts, and patches that are left out.
    """

    patches: tuple[PatchStatus, ...]
    versions: dict[tuple[str, str], dict[str, str]]
    report: Report

    def lagging(self) -> Iterator[tuple[str, str, list[str]]]:
        """Applications whose cells have different versions: the most frequent one, and the cells with others."""
        for (kind, application), cells in self.versions.items():
            usual = Counter(cells.values()).most_common(1)[0][0]
            others = [cell for cell, version in cells.items() if version != usual]
            if others:
                yield f"{kind}/{application}", usual, others

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready data."""
        return {
            "patches": [one.as_dict() for one in self.patches],
            "versions": {f"{kind}/{name}": cells for (kind, name), cells in self.versions.items()},
            **self.report.as_dict(),
        }


def survey(fleet: Fleet, state: FleetState | None) -> Overview:
    """Look at all patches and cells of a fleet.

    Args:
        state: what is known about applications.
    """
    report = Report()
    patches: list[PatchStatus] = []
    versions: dict[tuple[str, str], dict[str, str]] = {}
    for kind in fleet.types:
        merged = Merger(fleet, kind, report).merge(fleet.config.cells())
        values = {one.cell: one.values for one in merged}
        for app in kind.apps:
            patches += [_status(Found(fleet, kind, app, patch), values, state) for patch in app.patches]
            for section, name in sorted(app.items):
                if section == APPLICATIONS:
                    versions[kind.name, name] = {
                        in_path(cell): str(found)
                        for cell in values
                        if (found := wanted_revision(values[cell], name)) is not None
                    }
    return Overview(tuple(patches), {key: cells for key, cells in versions.items() if cells}, report)


def _status(found: Found, values: dict[Prefix, Any], state: FleetState | None) -> PatchStatus:
    config, prefixes = found.fleet.config, found.patch.prefixes
    reached = covered(config, prefixes)
    place = next_prefix(config, prefixes, found.fleet.choices.promotion_depth)
    gates = manual_nodes(found, place) if place else []
    ready = None
    if state is not None:
        ready = sum(
            all(
                state.is_ready(found.kind.name, cell, name, wanted_revision(values[cell], name))
                for name in applications_of(found)
            )
            for cell in reached
        )
    return PatchStatus(
        found.name,
        len(reached),
        len(config.cells()),
        tuple(in_path(prefix) for prefix in prefixes),
        in_path(place) if place else None,
        in_path(gates[0].prefix) if gates else None,
        tuple(in_path(cell) for cell in gaps(config, prefixes)),
        ready,
    )


# pictures


def _letters(fleet: Fleet) -> dict[Found, str]:
    """A letter, or a number, for each patch that is started."""
    found = [Found(fleet, kind, app, patch) for kind in fleet.types for app in kind.apps for patch in app.patches]
    started = [one for one in found if one.patch.placements]
    return {one: chr(65 + number) if number < 26 else str(number) for number, one in enumerate(started)}


def _at(fleet: Fleet, letters: dict[Found, str], prefix: Prefix) -> str:
    here = [letter for one, letter in letters.items() if prefix in covered(fleet.config, one.patch.prefixes)]
    return " ".join(here)


def as_mermaid(fleet: Fleet) -> str:
    """The sequence with the patches in it, as a Mermaid flowchart."""
    letters = _letters(fleet)
    cells = fleet.config.cells()
    lines = ["flowchart LR"]
    for number, cell in enumerate(cells):
        marks = _at(fleet, letters, cell)
        lines.append(f'  c{number}["{in_path(cell)}{f"<br/>{marks}" if marks else ""}"]')
    for number, cell in enumerate(cells[1:], 1):
        gate = next(
            (node for node in fleet.config.each() if node.manual and _begins(cells[number - 1], cell, node.prefix)),
            None,
        )
        lines.append(f"  c{number - 1} {'-->|by hand|' if gate else '-->'} c{number}")
    lines += [f"  %% {letter}: {one.name}" for one, letter in letters.items()]
    return "\n".join(lines) + "\n"


def _begins(before: Prefix, cell: Prefix, node: Prefix) -> bool:
    return cell[: len(node)] == node and before[: len(node)] != node


def as_dot(fleet: Fleet) -> str:
    """The same for Graphviz."""
    letters = _letters(fleet)
    cells = fleet.config.cells()
    lines = ["digraph fleet {", "  rankdir=LR; node [shape=box];"]
    for number, cell in enumerate(cells):
        marks = _at(fleet, letters, cell)
        lines.append(f'  c{number} [label="{in_path(cell)}{chr(92)}n{marks}"];')
    lines += [f"  c{number - 1} -> c{number};" for number in range(1, len(cells))]
    lines += [f"  // {letter}: {one.name}" for one, letter in letters.items()]
    return "\n".join([*lines, "}"]) + "\n"


_ROW, _COLUMN, _COLOURS = 26, 60, ("#0b6e4f", "#8c2f39", "#1d4e89", "#7a5c00", "#5b2a86")


def as_svg(fleet: Fleet) -> str:
    """A table of cells and patches as an image: a filled square with the patch's letter where it is active."""
    letters = _letters(fleet)
    cells = fleet.config.cells()
    first = max([len(in_path(cell)) for cell in cells], default=0) * 8 + 20
    width, height = first + _COLUMN * max(1, len(letters)), _ROW * (len(cells) + 1 + len(letters)) + 20
    size = f'width="{max(width, 400)}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="13">']
    for row, cell in enumerate(cells, 1):
        parts.append(f'<text x="8" y="{row * _ROW + 16}">{escape(in_path(cell))}</text>')
        for column, (one, letter) in enumerate(letters.items()):
            if cell in covered(fleet.config, one.patch.prefixes):
                x, colour = first + column * _COLUMN, _COLOURS[column % len(_COLOURS)]
                parts.append(f'<rect x="{x}" y="{row * _ROW}" width="24" height="22" fill="{colour}"/>')
                parts.append(f'<text x="{x + 8}" y="{row * _ROW + 16}" fill="#fff">{letter}</text>')
    for row, (one, letter) in enumerate(letters.items(), len(cells) + 1):
        parts.append(f'<text x="8" y="{row * _ROW + 24}">{letter}: {escape(one.name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
