"""Overview of a fleet: the progress of its patches, and the versions of its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from commodore.base.diagnostics import Diagnostics
from commodore.fleet.cells import CellValues, Merger
from commodore.fleet.dependencies import wanted_revision
from commodore.fleet.findings import FindingsRecord, by_severity
from commodore.fleet.generating import check_known
from commodore.fleet.patches import covered, gaps
from commodore.fleet.promotion.changing import LocatedPatch, Wait, waits_of
from commodore.fleet.promotion.gates import applications_of, manual_nodes
from commodore.fleet.promotion.next_place import next_prefix
from commodore.fleet.promotion.status_file import FleetState
from commodore.fleet.repository.config import FleetConfig, Prefix, in_path
from commodore.fleet.repository.model import APPLICATIONS, App, Fleet, Patch


@dataclass(frozen=True, slots=True)
class PatchStatus:
    """The progress of a patch.

    Attributes:
        reached, cells: the number of cells that have it, and of all cells.
        applied: the number of cells that have it and in which its dependencies are met.
        waits: the dependencies for which it waits in the others.
        place: its next place, if it is not everywhere.
        gate: the first node that a person has to approve before it reaches its next place.
        skipped: the cells that it has skipped.
        ready: the number of its cells that are healthy; None if unknown.
    """

    patch: str
    reached: int
    cells: int
    applied: int
    waits: tuple[Wait, ...]
    placements: tuple[str, ...]
    place: str | None
    gate: str | None
    skipped: tuple[str, ...]
    ready: int | None

    @property
    def lags(self) -> bool:
        """True if a dependency, a skipped or an unhealthy cell blocks it, or it is everywhere and has to be folded."""
        unhealthy = self.ready is not None and self.ready < self.reached
        return bool(self.waits or self.skipped) or unhealthy or self.reached == self.cells


@dataclass(frozen=True, slots=True)
class OverviewFilter:
    """The part of an overview that is shown; all of it by default.

    Attributes:
        types: cluster types.
        apps: applications, or folders of applications.
        patches: names or ids of patches, or `TYPE/APP/NAME`.
        cells: cells or nodes above them (`prod`, `prod/eu-1`), with or without their type before them.
        lagging: only cells with other versions than most, and patches that wait, have skipped cells, are not healthy or
            have to be folded.
    """

    types: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    lagging: bool = False

    def check(self, fleet: Fleet) -> None:
        """Refuse names that do not exist.

        Raises:
            UsageError: CMD-FLT-090.
        """
        kinds = [kind for kind in fleet.types if not self.types or kind.name in self.types]
        apps = [app for kind in kinds for app in kind.apps]
        patches = [patch for app in apps for patch in app.patches]
        prefixes = [in_path(prefix) for prefix in fleet.config.prefixes()]
        check_known("cluster type", self.types, [kind.name for kind in fleet.types])
        check_known(
            "application", self.apps, dict.fromkeys(name for app in apps for name in (app.name, *_applications(app)))
        )
        check_known("patch", self.patches, dict.fromkeys(name for patch in patches for name in _names(patch)))
        check_known(
            "cell", self.cells, [*prefixes, *(f"{kind.name}/{prefix}" for kind in kinds for prefix in prefixes)]
        )

    def has_app(self, app: App, name: str = "") -> bool:
        """Return True if an application's folder, or one application of it, is shown."""
        if self.types and app.type not in self.types:
            return False
        names = (app.name, name) if name else (app.name, *_applications(app))
        chosen = not self.apps or any(candidate in self.apps for candidate in names)
        return chosen and (not self.patches or any(self.has_patch(patch) for patch in app.patches))

    def has_patch(self, patch: Patch) -> bool:
        return not self.patches or any(name in self.patches for name in _names(patch))

    def has_cell(self, kind: str, cell: Prefix) -> bool:
        above = [in_path(cell[:depth]) for depth in range(1, len(cell) + 1)]
        return not self.cells or any(prefix in self.cells or f"{kind}/{prefix}" in self.cells for prefix in above)


def _applications(app: App) -> list[str]:
    return sorted(name for section, name in app.items if section == APPLICATIONS)


def _names(patch: Patch) -> tuple[str, ...]:
    return (patch.name, *(file.id for file in patch.files), f"{patch.type}/{patch.app}/{patch.name}")


@dataclass(frozen=True, slots=True)
class OverviewRecord(FindingsRecord):
    """The patches of a fleet, and the versions by application (`type/name`) and cell."""

    patches: Sequence[PatchStatus]
    versions: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of a fleet.

    Attributes:
        versions: the version by type, application and cell.
        usual: the version that most cells have, the number of these cells and of all, by type and application.
        report: conflicts, and patches that are left out.
    """

    patches: tuple[PatchStatus, ...]
    versions: dict[tuple[str, str], dict[str, str]]
    usual: dict[tuple[str, str], tuple[str, int, int]]
    report: Diagnostics

    def lagging(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield applications whose cells have different versions: the most frequent one, and the cells with others."""
        for (kind, application), cells in self.versions.items():
            usual = self.usual[kind, application][0]
            others = [cell for cell, version in cells.items() if version != usual]
            if others:
                yield f"{kind}/{application}", usual, others

    def as_plain(self) -> OverviewRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        findings = by_severity(self.report)
        versions = {f"{kind}/{name}": cells for (kind, name), cells in self.versions.items()}
        return OverviewRecord(findings.errors, findings.warnings, findings.notes, self.patches, versions)


def survey(fleet: Fleet, state: FleetState | None, narrowing: OverviewFilter | None = None) -> Overview:
    """Collect the progress of patches and the versions of cells of a fleet.

    Args:
        state: the known state of applications.
        narrowing: the part to show.

    Raises:
        UsageError: CMD-FLT-090, `narrowing` names something that does not exist.
    """
    chosen = narrowing or OverviewFilter()
    chosen.check(fleet)
    report = Diagnostics()
    patches: list[PatchStatus] = []
    versions: dict[tuple[str, str], dict[str, str]] = {}
    usual: dict[tuple[str, str], tuple[str, int, int]] = {}
    for kind in fleet.types:
        merged = Merger(fleet, kind, report, state.live if state else None).merge(fleet.config.cells())
        for app in (app for app in kind.apps if chosen.has_app(app)):
            patches += [
                _status(LocatedPatch(fleet, kind, app, patch), merged, state)
                for patch in app.patches
                if chosen.has_patch(patch) and _is_in(fleet.config, patch, chosen)
            ]
            for name in (name for name in _applications(app) if chosen.has_app(app, name)):
                all_cells = {values.cell: wanted_revision(values.values, name) for values in merged}
                known = {cell: str(version) for cell, version in all_cells.items() if version is not None}
                if not known:
                    continue
                most, number = Counter(known.values()).most_common(1)[0]
                usual[kind.name, name] = (most, number, len(known))
                versions[kind.name, name] = {
                    in_path(cell): version
                    for cell, version in known.items()
                    if chosen.has_cell(kind.name, cell) and not (chosen.lagging and version == most)
                }
    shown = [patch for patch in patches if patch.lags or not chosen.lagging]
    return Overview(tuple(shown), {key: cells for key, cells in versions.items() if cells}, usual, report)


def _is_in(config: FleetConfig, patch: Patch, chosen: OverviewFilter) -> bool:
    """Return True if a patch has reached one of the cells that are shown."""
    return not chosen.cells or any(chosen.has_cell(patch.type, cell) for cell in covered(config, patch.prefixes))


def _status(located: LocatedPatch, merged: list[CellValues], state: FleetState | None) -> PatchStatus:
    values = {cell_values.cell: cell_values.values for cell_values in merged}
    waits = waits_of(located, merged)
    config, prefixes = located.fleet.config, located.patch.prefixes
    reached = covered(config, prefixes)
    place = next_prefix(config, prefixes, located.fleet.choices.promotion_depth)
    gates = manual_nodes(located, place) if place else []
    ready = None
    if state is not None:
        ready = sum(
            all(
                state.is_ready(located.kind.name, cell, name, wanted_revision(values[cell], name))
                for name in applications_of(located)
            )
            for cell in reached
        )
    return PatchStatus(
        located.name,
        len(reached),
        len(config.cells()),
        len(reached) - sum(len(wait.cells) for wait in waits),
        waits,
        tuple(in_path(prefix) for prefix in prefixes),
        in_path(place) if place else None,
        in_path(gates[0].prefix) if gates else None,
        tuple(in_path(cell) for cell in gaps(config, prefixes)),
        ready,
    )


# pictures


def _letters(fleet: Fleet) -> dict[LocatedPatch, str]:
    """Assign a letter, or a number, to each patch that is started."""
    patches = [
        LocatedPatch(fleet, kind, app, patch) for kind in fleet.types for app in kind.apps for patch in app.patches
    ]
    started = [located for located in patches if located.patch.placements]
    return {located: chr(65 + number) if number < 26 else str(number) for number, located in enumerate(started)}


def _at(fleet: Fleet, letters: dict[LocatedPatch, str], prefix: Prefix) -> str:
    here = [letter for located, letter in letters.items() if prefix in covered(fleet.config, located.patch.prefixes)]
    return " ".join(here)


def as_mermaid(fleet: Fleet) -> str:
    """Draw the sequence with its patches as a Mermaid flowchart."""
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
    lines += [f"  %% {letter}: {located.name}" for located, letter in letters.items()]
    return "\n".join(lines) + "\n"


def _begins(before: Prefix, cell: Prefix, node: Prefix) -> bool:
    return cell[: len(node)] == node and before[: len(node)] != node


def as_dot(fleet: Fleet) -> str:
    """Draw the sequence with its patches for Graphviz."""
    letters = _letters(fleet)
    cells = fleet.config.cells()
    lines = ["digraph fleet {", "  rankdir=LR; node [shape=box];"]
    for number, cell in enumerate(cells):
        marks = _at(fleet, letters, cell)
        lines.append(f'  c{number} [label="{in_path(cell)}{chr(92)}n{marks}"];')
    lines += [f"  c{number - 1} -> c{number};" for number in range(1, len(cells))]
    lines += [f"  // {letter}: {located.name}" for located, letter in letters.items()]
    return "\n".join([*lines, "}"]) + "\n"


_ROW, _COLUMN, _COLOURS = 26, 60, ("#0b6e4f", "#8c2f39", "#1d4e89", "#7a5c00", "#5b2a86")


def as_svg(fleet: Fleet) -> str:
    """Draw a table of cells and patches as SVG: a filled square with the patch's letter where it is active."""
    letters = _letters(fleet)
    cells = fleet.config.cells()
    first = max([len(in_path(cell)) for cell in cells], default=0) * 8 + 20
    width, height = first + _COLUMN * max(1, len(letters)), _ROW * (len(cells) + 1 + len(letters)) + 20
    size = f'width="{max(width, 400)}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="13">']
    for row, cell in enumerate(cells, 1):
        parts.append(f'<text x="8" y="{row * _ROW + 16}">{escape(in_path(cell))}</text>')
        for column, (located, letter) in enumerate(letters.items()):
            if cell in covered(fleet.config, located.patch.prefixes):
                x, colour = first + column * _COLUMN, _COLOURS[column % len(_COLOURS)]
                parts.append(f'<rect x="{x}" y="{row * _ROW}" width="24" height="22" fill="{colour}"/>')
                parts.append(f'<text x="{x + 8}" y="{row * _ROW + 16}" fill="#fff">{letter}</text>')
    for row, (located, letter) in enumerate(letters.items(), len(cells) + 1):
        parts.append(f'<text x="8" y="{row * _ROW + 24}">{letter}: {escape(located.name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
