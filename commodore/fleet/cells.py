"""The merged values of cells: overrides and patches applied in order, each distinct combination once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError
from commodore.base.events import Warned
from commodore.base.fields import kind_of
from commodore.fleet.conflicts import Writes, describe_conflicts, overridden
from commodore.fleet.dependencies import (
    Dependency,
    Live,
    Unmet,
    cycle_error,
    dependencies_of,
    in_order,
    unknown_applications,
    unmet,
)
from commodore.fleet.findings import at, cells_in_words, dotted
from commodore.fleet.merging import Path_, merge
from commodore.fleet.patches import active, strategies_of
from commodore.fleet.paths import MISSING, value_at
from commodore.fleet.repository.config import Prefix, in_path
from commodore.fleet.repository.model import App, Fleet, Layer, PatchFile, TypeConfig, Values

Status = Callable[[str, Prefix], Live]
"""Returns the function for the live state of a cell, by type and cell."""


@dataclass(frozen=True, slots=True, eq=False)
class CellValues:
    """The merged values of a cell. Cells with the same values share them: they must not be changed.

    Attributes:
        values: section to item name to item, without the dimensions.
        applied: the applied patches, in order.
        left_out: the other patches, each with its unmet dependency.
    """

    type: str
    cell: Prefix
    values: Values
    applied: tuple[PatchFile, ...]
    left_out: tuple[tuple[PatchFile, Unmet], ...]


class Merger:
    """Merges the cells of one cluster type.

    Args:
        status: the live state for dependencies; without it these dependencies are ignored.
    """

    def __init__(self, fleet: Fleet, kind: TypeConfig, report: Diagnostics, status: Status | None = None) -> None:
        self._fleet = fleet
        self._kind = kind
        self._report = report
        self._status = status
        self._order = {app.name: number for number, app in enumerate(kind.apps)}
        self._needs: dict[PatchFile, tuple[Dependency, ...]] = {}
        self._strategies: dict[PatchFile, dict[Path_, str]] = {}
        self._app_of: dict[PatchFile, App] = {}
        self._items: dict[tuple[App, tuple[object, ...]], Values] = {}
        self._cells: dict[tuple[object, ...], CellValues] = {}
        self._changes: set[tuple[str, str]] = set()
        self._known_circles: set[frozenset[PatchFile]] = set()
        for app in kind.apps:
            for patch in app.patches:
                for file in patch.files:
                    self._prepare(app, file)
        queries = any(need.query for needs in self._needs.values() for need in needs)
        self._asks_for_dimensions = fleet.choices.inject_dimensions and queries

    def _prepare(self, app: App, file: PatchFile) -> None:
        self._app_of[file] = app
        self._strategies[file] = strategies_of(file, self._kind.sections)
        try:
            self._needs[file] = dependencies_of(file, self._kind.sections)
        except CommodoreError as error:
            self._needs[file] = ()
            self._report.add(error)
        inject = self._fleet.choices.inject_dimensions
        asked = [need for need in self._needs[file] if not (inject and need.query and need.path[:1] == ("cluster",))]
        self._report.add(*unknown_applications(self._kind, asked, file))

    def merge(self, cells: Iterable[Prefix]) -> list[CellValues]:
        """Return the values of cells. Conflicts, left out patches and cycles are reported, each once."""
        merged = [self._cell(cell) for cell in cells]
        self._report_merged(merged)
        return merged

    def _cell(self, cell: Prefix) -> CellValues:
        levels = {app: app.levels(cell) for app in self._kind.apps}
        placed = {app: tuple(active(patch, cell) for patch in app.patches) for app in self._kind.apps if app.patches}
        live = self._status(self._kind.name, cell) if self._status else None
        cluster = self._cluster(cell)
        key: tuple[object, ...] = (
            tuple(tuple(level) for app in self._kind.apps for level in levels[app]),
            tuple(placed.values()),
            cell if live or cluster else None,
        )
        known = self._cells.get(key)
        if known is None:
            run = _Run(self, levels, placed, live, cluster)
            known = CellValues(self._kind.name, cell, run.values(), tuple(run.applied), tuple(run.left_out))
            self._cells[key] = known
        return CellValues(self._kind.name, cell, known.values, known.applied, known.left_out)

    def _cluster(self, cell: Prefix) -> dict[str, str]:
        """Return the dimensions of a cell, if they belong to its values and a JSONPath may refer to them."""
        if not self._asks_for_dimensions:
            return {}
        return dict(zip(self._fleet.config.singulars, cell, strict=True))

    def _report_merged(self, merged: Sequence[CellValues]) -> None:
        """Report conflicts between patches, and left out patches."""
        lacking: dict[tuple[str, str, str], list[str]] = {}
        for cell in merged:
            for file, lack in cell.left_out:
                name = f"{cell.type}/{self._app_of[file].name}/{file.name}"
                lacking.setdefault((name, lack.in_words, lack.hint), []).append(in_path(cell.cell))
        for (name, words, hint), cells in lacking.items():
            self._report.add(
                Warned("CMD-FLT-047", f"the patch {name} is not applied in {cells_in_words(cells)}: {words}", hint)
            )
        writes = [
            Writes(in_path(cell.cell), [(file, self._strategies[file]) for file in cell.applied]) for cell in merged
        ]
        self._report.add(*describe_conflicts(writes))
        if self._fleet.choices.patches == "by-level":
            applied = [(cell.cell, file, self._app_of[file]) for cell in merged for file in cell.applied]
            self._report.add(*overridden(applied))

    # used by the run of a cell

    @property
    def by_level(self) -> bool:
        return self._fleet.choices.patches == "by-level"

    @property
    def apps(self) -> tuple[App, ...]:
        return self._kind.apps

    @property
    def sections(self) -> tuple[str, ...]:
        return self._kind.sections

    def app_of(self, file: PatchFile) -> App:
        return self._app_of[file]

    def needs(self, file: PatchFile) -> tuple[Dependency, ...]:
        return self._needs[file]

    def ordered(self, files: Sequence[PatchFile]) -> list[PatchFile]:
        """Sort the patches of a cell in the order of their application."""

        def tie(file: PatchFile) -> tuple[int, int, str]:
            name = PurePosixPath(file.place).name if self.by_level else file.name
            return self._order[self._app_of[file].name], len(file.prefix or ()), name

        ties = sorted(files, key=tie)
        ordered, circle = in_order(ties, self._needs)
        if circle and frozenset(file for file, _ in circle) not in self._known_circles:
            self._known_circles.add(frozenset(file for file, _ in circle))
            self._report.add(cycle_error(circle))
        return ordered

    def lack(self, file: PatchFile, values: Values, live: Live | None) -> Unmet | None:
        """Return the first unmet dependency of a patch."""
        for need in self._needs[file]:
            try:
                missing = unmet(need, values, live)
            except CommodoreError as error:
                self._report.add(error)
                return None
            if missing is not None:
                return missing
        return None

    def applied(self, app: App, steps: tuple[Layer | PatchFile, ...]) -> Values:
        """Return the values of an application after some steps, starting with its base values."""
        key = (app, steps)
        if key in self._items:
            return self._items[key]
        if not steps:
            result = self._on_defaults({}, app.base, {}, ())
        else:
            before = self.applied(app, steps[:-1])
            last = steps[-1]
            layer = last.layer if isinstance(last, PatchFile) else last
            strategies = self._strategies[last] if isinstance(last, PatchFile) else {}
            result = self._on_defaults(before, layer, strategies, (app.base, *steps[:-1]))
        self._items[key] = result
        return result

    def _on_defaults(
        self, before: Values, layer: Layer, strategies: dict[Path_, str], earlier: Sequence[Layer | PatchFile]
    ) -> Values:
        """Merge a layer into values; new items are merged into the defaults of their section."""

        def changed(path: Path_, old: Any, new: Any) -> None:
            self._report_change(path, old, new, layer, earlier)

        result = {section: dict(items) for section, items in before.items()}
        for section, items in layer.values.items():
            merged = result.setdefault(section, {})
            for name, item in items.items():
                path = (section, name)
                base = merged[name] if name in merged else self._default(section)
                merged[name] = merge(base, item, strategies, path, changed)
        return result

    def _default(self, section: str) -> dict[str, Any] | None:
        layers = self._kind.defaults.get(section, ())
        merged: Any = {} if layers else None
        for layer in layers:
            merged = merge(merged, layer.values)
        return merged if merged is None or isinstance(merged, dict) else {}

    def _report_change(
        self, path: Path_, old: Any, new: Any, layer: Layer, earlier: Sequence[Layer | PatchFile]
    ) -> None:
        layers = [step.layer if isinstance(step, PatchFile) else step for step in reversed(earlier)]
        writer = next(
            (layer_of_path for layer_of_path in layers if value_at(layer_of_path.values, path) is not MISSING), None
        )
        where = writer.at(path) if writer else self._default_place(path)
        key = (str(layer.at(path)), str(where))
        if key not in self._changes:
            self._changes.add(key)
            message = f"{at(layer.at(path))} replaces {kind_of(old)} by {kind_of(new)} at {dotted(path)}"
            self._report.add(Warned("CMD-FLT-022", f"{message} ({where})", "give it the form that it has there"))

    def _default_place(self, path: Path_) -> object:
        layers = self._kind.defaults.get(str(path[0]), ())
        return at(layers[-1].at(path[2:])) if layers else "a default"


class _Run:
    """A distinct cell: the steps of each application."""

    def __init__(
        self,
        merger: Merger,
        levels: dict[App, list[tuple[Layer, ...]]],
        placed: dict[App, tuple[tuple[PatchFile, ...], ...]],
        live: Live | None,
        cluster: Values,
    ) -> None:
        self._merger = merger
        self._live = live
        self._cluster = cluster
        self._steps: dict[App, tuple[Layer | PatchFile, ...]] = dict.fromkeys(merger.apps, ())
        self.applied: list[PatchFile] = []
        self.left_out: list[tuple[PatchFile, Unmet]] = []
        depth = max((len(levels[app]) for app in merger.apps), default=0)
        for level in range(depth):
            for app in merger.apps:
                self._steps[app] = (*self._steps[app], *levels[app][level])
            if merger.by_level:
                here = [
                    file
                    for files in placed.values()
                    for patch in files
                    for file in patch
                    if len(file.prefix or ()) == level + 1
                ]
                self._apply(here)
        if not merger.by_level:
            self._apply([patch[0] for files in placed.values() for patch in files if patch])

    def _apply(self, files: Sequence[PatchFile]) -> None:
        for file in self._merger.ordered(files) if files else ():
            needs = self._merger.needs(file)
            lack = self._merger.lack(file, self._seen(), self._live) if needs else None
            if lack is not None:
                self.left_out.append((file, lack))
                continue
            app = self._merger.app_of(file)
            self._steps[app] = (*self._steps[app], file)
            self.applied.append(file)

    def _seen(self) -> Values:
        """Return the values for dependencies: the current ones, and the dimensions if they belong to them."""
        return {"cluster": self._cluster, **self.values()} if self._cluster else self.values()

    def values(self) -> Values:
        """Return the values of all applications, in the order of their folders."""
        merged: Values = {}
        for app in self._merger.apps:
            for section, items in self._merger.applied(app, self._steps[app]).items():
                merged.setdefault(section, {}).update(items)
        return merged


def merge_fleet(
    fleet: Fleet, cells: Iterable[Prefix], types: Iterable[str], report: Diagnostics, status: Status | None = None
) -> list[CellValues]:
    """Return the merged values of these cells of these types."""
    names, chosen = tuple(types), tuple(cells)
    return [
        cell for kind in fleet.types if kind.name in names for cell in Merger(fleet, kind, report, status).merge(chosen)
    ]
