"""Patches that are active everywhere: until they are folded, their application stays unchanged."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, InputError
from commodore.base.yaml import load
from commodore.fleet.cells import CellValues
from commodore.fleet.merging import same
from commodore.fleet.output import Files, cell_folder
from commodore.fleet.patches import is_complete
from commodore.fleet.paths import MISSING
from commodore.fleet.repository.layout import RENDERED
from commodore.fleet.repository.model import App, Fleet, Patch, Values


def hold_finished(
    fleet: Fleet,
    cells: Sequence[CellValues],
    present: Files,
    report: Diagnostics,
    going_on: Collection[tuple[str, str]],
) -> tuple[list[CellValues], list[CommodoreError]]:
    """Keep the applications of finished patches as they are rendered. Returns the cells, and the errors about
    applications that would change. Other applications are rendered anew.

    Args:
        cells: the merged values of cells.
        present: the files of `rendered/`.
        going_on: types and folders of applications that are rendered nevertheless.
    """
    held, errors = list(cells), []
    former = _Former(present)
    for app, patch in _finished(fleet, cells):
        message = f"the patch {patch.name} of {app.name} is active in all {len(fleet.config.cells())} cells"
        fold = f"fold it into {app.base.document.place}: commodore fleet fold {app.type} {app.name} {patch.name}"
        if (app.type, app.name) not in going_on:
            before = held
            held = [_with_former(cell, app, former.of(cell)) if cell.type == app.type else cell for cell in held]
            if any(new is not old for new, old in zip(held, before, strict=True)):
                place = [patch.placements[0].place]
                what = f"{message}: {app.name} stays as it is rendered"
                errors.append(InputError("CMD-FLT-037", what, hint=fold, locations=place))
                continue
        report.add(Diagnostic("CMD-FLT-069", message, "info", fold))
    return held, list(errors)


def _finished(fleet: Fleet, cells: Sequence[CellValues]) -> list[tuple[App, Patch]]:
    """Return the patches that are placed everywhere and applied in all of these cells."""
    left_out = {file for cell in cells for file, _ in cell.left_out}
    types = {cell.type for cell in cells}
    return [
        (app, patch)
        for kind in fleet.types
        if kind.name in types
        for app in kind.apps
        for patch in app.patches
        if patch.placements and is_complete(fleet.config, patch) and left_out.isdisjoint(patch.placements)
    ]


class _Former:
    """The former values of cells from `rendered/`; equal files are read once."""

    def __init__(self, present: Files) -> None:
        self._present = present
        self._known: dict[bytes, Mapping[str, Any]] = {}

    def of(self, cell: CellValues) -> Mapping[str, Any]:
        place = f"{cell_folder(cell.type, cell.cell)}/values.yaml"
        text = self._present.get(place, b"")
        if text not in self._known:
            data = load(text, place=f"{RENDERED}/{place}")
            self._known[text] = data if isinstance(data, dict) else {}
        return self._known[text]


def _with_former(cell: CellValues, app: App, former: Mapping[str, Any]) -> CellValues:
    """Return a cell with the former items of an application; the same object if they are equal."""
    values: Values = cell.values
    for section, name in sorted(app.items):
        items = former.get(section)
        old = items.get(name, MISSING) if isinstance(items, dict) else MISSING
        if same(values.get(section, {}).get(name, MISSING), old):
            continue
        kept = {key: item for key, item in values.get(section, {}).items() if old is not MISSING or key != name}
        values = {**values, section: kept if old is MISSING else {**kept, name: old}}
    return cell if values is cell.values else dataclasses.replace(cell, values=values)
