"""A fleet with other placements of a patch, and what that changes in cells: nothing is written."""

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
    """A patch with what it belongs to."""

    fleet: Fleet
    kind: TypeConfig
    app: App
    patch: Patch

    @property
    def name(self) -> str:
        return f"{self.kind.name}/{self.app.name}/{self.patch.name}"

    @property
    def words(self) -> str:
        """The arguments of commands about the patch."""
        return f"{self.kind.name} {self.app.name} {self.patch.name}"

    def with_placements(self, placements: Sequence[PatchFile]) -> LocatedPatch:
        """The same fleet with other placements of the patch."""
        order = {prefix: number for number, prefix in enumerate(self.fleet.config.prefixes())}
        sorted_ = tuple(sorted(placements, key=lambda one: order[one.prefix or ()]))
        return self._with(dataclasses.replace(self.patch, placements=sorted_), self.app)

    def folded(self, base: Values, overrides: Mapping[Layer, Values]) -> LocatedPatch:
        """The same fleet without the patch, with other base values and overrides."""

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
        others = tuple(patch if one is self.patch else one for one in app.patches)
        app = dataclasses.replace(app, patches=tuple(one for one in others if one is not None))
        kind = dataclasses.replace(self.kind, apps=tuple(app if one is self.app else one for one in self.kind.apps))
        types = tuple(kind if one is self.kind else one for one in self.fleet.types)
        return LocatedPatch(dataclasses.replace(self.fleet, types=types), kind, app, patch or self.patch)

    def values(self) -> dict[Prefix, Values]:
        """The merged values of all cells of the type."""
        return {one.cell: one.values for one in self.merged()}

    def merged(self, status: Status | None = None) -> list[CellValues]:
        """The same with the patches that are applied and left out.

        Args:
            status: live state that dependencies may ask for.
        """
        return Merger(self.fleet, self.kind, Diagnostics(), status).merge(self.fleet.config.cells())

    def folder(self, prefix: Prefix | None) -> Path:
        """The folder of a prefix below the application's."""
        return self.app.folder.joinpath(*(prefix or ()))


@dataclass(frozen=True, slots=True)
class WaitRecord:
    """A dependency that is not met, as documents for machines show it, and the cells in which it is not."""

    dependency: str
    cells: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """A dependency that keeps a patch from being applied in cells where it is placed."""

    lack: Unmet
    cells: tuple[Prefix, ...]

    @property
    def in_words(self) -> str:
        """What follows `waits for`."""
        return f"{self.lack.awaited} in {cells_in_words([in_path(cell) for cell in self.cells])}"

    def as_plain(self) -> WaitRecord:
        """The wait for machines; see `commodore.base.documents.plain`."""
        return WaitRecord(self.lack.in_words, [in_path(cell) for cell in self.cells])


def waits_of(found: LocatedPatch, merged: Sequence[CellValues]) -> tuple[Wait, ...]:
    """The dependencies for which a patch waits, each with its cells.

    Args:
        merged: the values of the cells, as `Found.merged` gives them.
    """
    files = set(found.patch.placements)
    groups: dict[str, Wait] = {}
    for one in merged:
        lack = next((lack for file, lack in one.left_out if file in files), None)
        if lack is not None and not files.intersection(one.applied):
            former = groups.get(lack.in_words)
            groups[lack.in_words] = Wait(lack, (*former.cells, one.cell) if former else (one.cell,))
    return tuple(groups.values())


def find_patch(fleet: Fleet, kind: str, app: str, name: str) -> LocatedPatch:
    """A patch by the name of its files, or its id.

    Raises:
        InputError: CMD-FLT-070, there is none; 032, its copies differ.
    """
    type_ = next((one for one in fleet.types if one.name == kind), None)
    folder = type_.app(app) if type_ else None
    patches = folder.patches if folder else ()
    patch = next((one for one in patches if name in (one.name, *(file.id for file in one.files))), None)
    if type_ is None or folder is None or patch is None:
        there = [f"{one.app}/{one.name}" for one in (type_.patches if type_ else ())]
        what = (
            f"there are {some_of(there)} in {kind}"
            if type_
            else f"types are {some_of([one.name for one in fleet.types])}"
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


def placed_at(found: LocatedPatch, file: PatchFile, prefix: Prefix) -> PatchFile:
    """A copy of a patch at another prefix, as if it was read from there."""
    path = file_at(found, prefix)
    document = dataclasses.replace(file.layer.document, path=path, place=str(path.relative_to(found.fleet.root)))
    return dataclasses.replace(file, prefix=prefix, layer=dataclasses.replace(file.layer, document=document))


def file_at(found: LocatedPatch, prefix: Prefix) -> Path:
    """The file that a placement at a prefix has, in the form of those that there are."""
    latest = found.patch.placements[-1] if found.patch.placements else None
    inner = latest is None or latest.layer.document.path.parent.name == PATCHES
    folder = found.folder(prefix)
    like = (latest or found.patch.files[0]).layer.document.path.name
    return folder / PATCHES / like if inner else folder / like


@dataclass(frozen=True, slots=True)
class Loss:
    """A value that would be another one.

    Attributes:
        before, after: the value at the path; `MISSING` if there is none.
        override: the layer that would win, if one does.
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
        """Where the value is that would win."""
        if self.wait is not None:
            return f"waits for {self.wait.lack.awaited}"
        return str(self.override.at(self.path)) if self.override else "other patches"


def losses(
    found: LocatedPatch, before: Mapping[Prefix, Values], after: Mapping[Prefix, Values], waits: Sequence[Wait] = ()
) -> list[Loss]:
    """What is different in cells, equal differences of several cells together.

    Args:
        waits: the dependencies for which the patch has waited before.
    """
    groups: dict[tuple[Path_, Layer | None, Wait | None], Loss] = {}
    waiting = {cell: wait for wait in waits for cell in wait.cells}
    for cell in before:
        for path, old, new in differences(before[cell], after[cell]):
            layers = [layer for level in found.app.levels(cell) for layer in level]
            writes = [one for one in layers if any(overlap(path, leaf) for leaf, _ in leaves(one.values))]
            override = writes[-1] if writes else None
            key = (path, override, waiting.get(cell))
            known = groups.get(key)
            cells = (*known.cells, cell) if known else (cell,)
            groups[key] = Loss(path, old, new, cells, override, waiting.get(cell))
    return list(groups.values())


def differences(before: Values, after: Values) -> list[tuple[Path_, Any, Any]]:
    """Paths whose values differ, with both."""
    if before is after:
        return []
    old, new = dict(leaves(before)), dict(leaves(after))
    paths = [path for path in dict.fromkeys((*old, *new)) if not same(old.get(path, MISSING), new.get(path, MISSING))]
    return [(path, old.get(path, MISSING), new.get(path, MISSING)) for path in paths]


def shown_path(path: Path_) -> str:
    """A path for messages."""
    return dotted(path)
