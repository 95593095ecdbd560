"""The documents for machines of `commodore fleet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commodore.base.diagnostics import Diagnostic
    from commodore.base.errors import CommodoreError
    from commodore.core.review import ChangeKind, FileGroup
    from commodore.fleet import Generated, ObjectChange, PlannedStep, RenderedDiff, Step, Wait


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of `rendered/` that differs."""

    kind: ChangeKind
    path: str


@dataclass(frozen=True, slots=True)
class CellChange:
    """A change of files that is equal in several cells.

    Attributes:
        path: of the file in the first of the cells.
        differs_in: the names of the values in which the cells differ.
        left_out: the number of lines of the diff that are not there.
    """

    kind: str
    path: str
    cells: Sequence[str]
    differs_in: Sequence[str]
    diff: Sequence[str]
    left_out: int


@dataclass(frozen=True, slots=True)
class RenderedChanges:
    """The differences between two states of `rendered/`.

    Attributes:
        cells: how many there are.
        changes: the files that differ.
        groups: the same, equal ones of several cells together.
        objects: the Applications that come to some cells or go from them.
        cells_added, cells_removed: cells that only one of the states has, with all of their objects.
        cells_unknown: cells one of whose states cannot be read.
        partial: whether there are such cells.
    """

    cells: int
    changes: Sequence[ChangedFile]
    groups: Sequence[CellChange]
    objects: Sequence[ObjectChange]
    cells_added: Sequence[str]
    cells_removed: Sequence[str]
    cells_unknown: Sequence[str]
    partial: bool


@dataclass(frozen=True, slots=True)
class GeneratedFleet(RenderedChanges):
    """The result of generating a fleet.

    Attributes:
        files: the number of files in `rendered/`.
        errors: the errors that prevent writing.
    """

    files: int
    errors: Sequence[CommodoreError]
    warnings: Sequence[Diagnostic]
    notes: Sequence[Diagnostic]


@dataclass(frozen=True, slots=True)
class FleetImport:
    """Base values that are made out of Applications: the files, and the names of the applications by folder."""

    files: Sequence[str]
    applications: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Approvers:
    """The users who may approve a change of a path."""

    approvers: Sequence[str]


@dataclass(frozen=True, slots=True)
class SchemaNames:
    """The kinds of files that `fleet schema` has JSON Schemas of."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class PromotedSteps:
    """The steps that were made, or with `--dry-run` would be."""

    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class FoldedPatch:
    """A patch in base values: the files that are written and removed, and what changes in cells, in words."""

    writes: Sequence[str]
    removes: Sequence[str]
    changes: Sequence[str]


@dataclass(frozen=True, slots=True)
class PatchPlan:
    """All steps that are left for a patch.

    Attributes:
        waits: the dependencies for which it waits now.
        soak: the seconds for which nodes soak, all together.
    """

    waits: Sequence[Wait]
    steps: Sequence[PlannedStep]
    soak: int


def rendered_changes(diff: RenderedDiff) -> RenderedChanges:
    """The differences between two states of `rendered/`."""
    return RenderedChanges(**_changes(diff, diff.cells))


def generated_fleet(done: Generated) -> GeneratedFleet:
    """The result of generating a fleet."""

    from commodore.fleet import by_severity

    severity = by_severity(done.report)
    errors = (*done.removals, *done.unfinished)
    changes = _changes(done, len(done.cells))
    return GeneratedFleet(**changes, files=done.files, errors=errors, warnings=severity.warnings, notes=severity.notes)


def _changes(generated: Generated | RenderedDiff, cells: int) -> dict[str, Any]:
    objects = generated.objects
    return {
        "cells": cells,
        "changes": [ChangedFile(file.kind, file.new_path) for file in generated.change.files],
        "groups": list(map(_cell_change, generated.groups)),
        "objects": objects.objects,
        "cells_added": objects.added,
        "cells_removed": objects.removed,
        "cells_unknown": objects.unknown,
        "partial": bool(objects.unknown),
    }


def _cell_change(group: FileGroup) -> CellChange:
    lines = [text for _, text in group.diff]
    return CellChange(group.kind, group.path, group.clusters, sorted(group.differs_in), lines, group.left_out)
