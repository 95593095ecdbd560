"""A fleet with other placements of a patch, and the resulting differences of its cells. Nothing is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import InputError
from commodore.base.printable import some_of
from commodore.fleet.cells import CellValues, Merger, Status
from commodore.fleet.dependencies import Unmet
from commodore.fleet.findings import cells_in_words, dotted
from commodore.fleet.merging import Path_, leaves, overlap, same
from commodore.fleet.patches import copies_differ
from commodore.fleet.paths import MISSING
from commodore.fleet.repository.config import Prefix, in_path
from commodore.fleet.repository.layout import PATCHES
from commodore.fleet.repository.model import App, Fleet, Layer, Patch, PatchFile, TypeConfig, Values


@dataclass(frozen=True, slots=True)
class LocatedPatch:
    """A patch with its fleet, cluster type and application."""

    fleet: Fleet
    kind: TypeConfig
    app: App
    patch: Patch

    @property
    def name(self) -> str:
        return f"{self.kind.name}/{self.app.name}/{self.patch.name}"

    @property
    def words(self) -> str:
        """The arguments that name the patch on a command line."""
        return f"{self.kind.name} {self.app.name} {self.patch.name}"

    def with_placements(self, placements: Sequence[PatchFile]) -> LocatedPatch:
        """Return the same fleet with other placements of the patch."""
        order = {prefix: number for number, prefix in enumerate(self.fleet.config.prefixes())}
        sorted_ = tuple(sorted(placements, key=lambda placement: order[placement.prefix or ()]))
        return self._with(dataclasses.replace(self.patch, placements=sorted_), self.app)

    def folded(self, base: Values, overrides: Mapping[Layer, Values]) -> LocatedPatch:
        """Return the same fleet without the patch, with other base values and overrides."""

        def changed(layer: Layer) -> Layer:
            return dataclasses.replace(layer, values=overrides[layer]) if layer in overrides else layer

        app = dataclasses.replace(
            self.app,
            base=dataclasses.replace(self.app.base, values=base),
            overrides={prefix: changed(layer) for prefix, layer in self.app.overrides.items()},
            flat={name: changed(layer) for name, layer in self.app.flat.items()},
        )
        return self._with(None, app)

    def _with(self, patch: Patch | None, app: App) -> LocatedPatch:
        others = tuple(patch if other is self.patch else other for other in app.patches)
        app = dataclasses.replace(app, patches=tuple(other for other in others if other is not None))
        kind = dataclasses.replace(
            self.kind, apps=tuple(app if other is self.app else other for other in self.kind.apps)
        )
        types = tuple(kind if other is self.kind else other for other in self.fleet.types)
        return LocatedPatch(dataclasses.replace(self.fleet, types=types), kind, app, patch or self.patch)

    def values(self) -> dict[Prefix, Values]:
        """Return the merged values of all cells of the type."""
        return {merged.cell: merged.values for merged in self.merged()}

    def merged(self, status: Status | None = None) -> list[CellValues]:
        """Return the merged values of all cells of the type, with the patches that are applied and left out.

        Args:
            status: the live state that dependencies are checked against.
        """
        return Merger(self.fleet, self.kind, Diagnostics(), status).merge(self.fleet.config.cells())

    def folder(self, prefix: Prefix | None) -> Path:
        """Return the folder of a prefix below the application's."""
        return self.app.folder.joinpath(*(prefix or ()))


@dataclass(frozen=True, slots=True)
class WaitRecord:
    """The JSON record of an unmet dependency and the cells in which it is not met."""

    dependency: str
    cells: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """A dependency that keeps a patch from being applied in cells where it is placed."""

    lack: Unmet
    cells: tuple[Prefix, ...]

    @property
    def in_words(self) -> str:
        """The dependency and the cells, as messages give them after `waits for`."""
        return f"{self.lack.awaited} in {cells_in_words([in_path(cell) for cell in self.cells])}"

    def as_plain(self) -> WaitRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        return WaitRecord(self.lack.in_words, [in_path(cell) for cell in self.cells])


def waits_of(located: LocatedPatch, merged: Sequence[CellValues]) -> tuple[Wait, ...]:
    """Return the dependencies for which a patch waits, each with its cells.

    Args:
        merged: the values of the cells, as `LocatedPatch.merged` returns them.
    """
    files = set(located.patch.placements)
    groups: dict[str, Wait] = {}
    for values in merged:
        lack = next((lack for file, lack in values.left_out if file in files), None)
        # another placement that applies makes the one that is left out irrelevant
        if lack is not None and not files.intersection(values.applied):
            former = groups.get(lack.in_words)
            groups[lack.in_words] = Wait(lack, (*former.cells, values.cell) if former else (values.cell,))
    return tuple(groups.values())


def find_patch(fleet: Fleet, kind: str, app: str, name: str) -> LocatedPatch:
    """Return a patch by the name of its files, or its id.

    Raises:
        InputError: CMD-FLT-070, the patch does not exist; 032, its copies differ.
    """
    type_ = next((candidate for candidate in fleet.types if candidate.name == kind), None)
    folder = type_.app(app) if type_ else None
    patches = folder.patches if folder else ()
    patch = next(
        (candidate for candidate in patches if name in (candidate.name, *(file.id for file in candidate.files))), None
    )
    if type_ is None or folder is None or patch is None:
        there = [f"{other.app}/{other.name}" for other in (type_.patches if type_ else ())]
        what = (
            f"there are {some_of(there)} in {kind}"
            if type_
            else f"types are {some_of([other.name for other in fleet.types])}"
        )
        raise InputError(
            "CMD-FLT-070",
            f"there is no patch {name} of {app} in {kind}",
            hint=what if there or not type_ else f"{kind} has none",
        )
    if differing := copies_differ(patch, type_.sections):
        first, other, paths = differing
        raise InputError(
            "CMD-FLT-032",
            f"copies of {patch.name} differ: {first.place} and {other.place} at {', '.join(paths)}",
            hint="make them equal; only id and description may differ",
            locations=[other.place],
        )
    return LocatedPatch(fleet, type_, folder, patch)


def placed_at(located: LocatedPatch, file: PatchFile, prefix: Prefix) -> PatchFile:
    """Return a copy of a patch's file at another prefix, as if it was read from there."""
    path = file_at(located, prefix)
    document = dataclasses.replace(file.layer.document, path=path, place=str(path.relative_to(located.fleet.root)))
    return dataclasses.replace(file, prefix=prefix, layer=dataclasses.replace(file.layer, document=document))


def file_at(located: LocatedPatch, prefix: Prefix) -> Path:
    """Return the path of a placement at a prefix, named and nested like the latest existing placement."""
    latest = located.patch.placements[-1] if located.patch.placements else None
    inner = latest is None or latest.layer.document.path.parent.name == PATCHES
    folder = located.folder(prefix)
    like = (latest or located.patch.files[0]).layer.document.path.name
    return folder / PATCHES / like if inner else folder / like


@dataclass(frozen=True, slots=True)
class Loss:
    """A value that would change.

    Attributes:
        before, after: the value at the path, or `MISSING`.
        override: the layer that would win, if any.
        wait: the dependency for which the patch waits in these cells, if it does.
    """

    path: Path_
    before: Any
    after: Any
    cells: tuple[Prefix, ...]
    override: Layer | None
    wait: Wait | None = None

    @property
    def place(self) -> str:
        """The place of the value that would win, for messages."""
        if self.wait is not None:
            return f"waits for {self.wait.lack.awaited}"
        return str(self.override.at(self.path)) if self.override else "other patches"


def losses(
    located: LocatedPatch, before: Mapping[Prefix, Values], after: Mapping[Prefix, Values], waits: Sequence[Wait] = ()
) -> list[Loss]:
    """Return the differences between cells before and after, equal ones of several cells together.

    Args:
        waits: the dependencies for which the patch waited before.
    """
    groups: dict[tuple[Path_, Layer | None, Wait | None], Loss] = {}
    waiting = {cell: wait for wait in waits for cell in wait.cells}
    for cell in before:
        for path, old, new in differences(before[cell], after[cell]):
            layers = [layer for level in located.app.levels(cell) for layer in level]
            writes = [layer for layer in layers if any(overlap(path, leaf) for leaf, _ in leaves(layer.values))]
            override = writes[-1] if writes else None
            key = (path, override, waiting.get(cell))
            known = groups.get(key)
            cells = (*known.cells, cell) if known else (cell,)
            groups[key] = Loss(path, old, new, cells, override, waiting.get(cell))
    return list(groups.values())


def differences(before: Values, after: Values) -> list[tuple[Path_, Any, Any]]:
    """Return the paths whose values differ, with the value before and after."""
    if before is after:
        return []
    old, new = dict(leaves(before)), dict(leaves(after))
    paths = [path for path in dict.fromkeys((*old, *new)) if not same(old.get(path, MISSING), new.get(path, MISSING))]
    return [(path, old.get(path, MISSING), new.get(path, MISSING)) for path in paths]


def shown_path(path: Path_) -> str:
    """Format a path for messages."""
    return dotted(path)
