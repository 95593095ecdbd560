"""Plan all remaining steps of a patch. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from commodore.fleet.merging import Path_
from commodore.fleet.patches import covered
from commodore.fleet.promotion.changing import LocatedPatch, Wait, differences, shown_path, waits_of
from commodore.fleet.promotion.folding import value_in_words
from commodore.fleet.promotion.gates import manual_nodes
from commodore.fleet.promotion.next_place import left
from commodore.fleet.promotion.promoting import PromoteOptions, Step, StepRecord, next_step
from commodore.fleet.repository.config import Prefix, in_path


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A value that differs after a step: before and after in words, and the number of cells."""

    path: str
    before: str
    after: str
    cells: int


@dataclass(frozen=True, slots=True)
class PlannedStepRecord(StepRecord):
    """The JSON record of a planned step; see `PlannedStep`.

    Attributes:
        dependencies: the dependencies for which the patch waits in `cells`.
    """

    approvals: Sequence[str]
    cells: Sequence[str]
    applied: int
    dependencies: Sequence[Wait]
    soak: int
    changes: Sequence[PlannedChange]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A future promotion.

    Attributes:
        approvals: the nodes that a person has to approve.
        cells: the cells that the patch reaches in this step.
        changes: the differences in them: path, value before and after, and number of cells.
        soak: seconds for which nodes soak before the step.
        soak_text: the soak time as the configuration gives it.
        waits: the dependencies for which the patch waits in `cells`.
    """

    step: Step
    approvals: tuple[str, ...]
    cells: tuple[Prefix, ...]
    changes: tuple[tuple[Path_, Any, Any, int], ...]
    soak: int
    soak_text: str
    waits: tuple[Wait, ...]

    @property
    def applied(self) -> int:
        """The number of `cells` in which the patch is applied."""
        return len(self.cells) - sum(len(wait.cells) for wait in self.waits)

    def as_plain(self) -> PlannedStepRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        step = self.step.as_plain()
        return PlannedStepRecord(
            **{field.name: getattr(step, field.name) for field in fields(step)},
            approvals=self.approvals,
            cells=[in_path(cell) for cell in self.cells],
            applied=self.applied,
            dependencies=self.waits,
            soak=self.soak,
            changes=[
                PlannedChange(shown_path(path), value_in_words(before), value_in_words(after), number)
                for path, before, after, number in self.changes
            ],
        )


def plan(located: LocatedPatch, options: PromoteOptions) -> Iterator[PlannedStep]:
    """Yield the remaining steps of a patch, each from the fleet after the previous one.

    Raises:
        InputError: as `next_step`.
    """
    while True:
        step = next_step(located, options)
        if step.place is None and not step.writes:
            return
        assert step.after is not None
        config = located.fleet.config
        before, merged = located.values(), step.after.merged()
        after = {values.cell: values.values for values in merged}
        counts: dict[Path_, tuple[Any, Any, int]] = {}
        for cell in before:
            for path, old, new in differences(before[cell], after[cell]):
                counts[path] = (old, new, counts.get(path, (old, new, 0))[2] + 1)
        reached = set(covered(config, located.patch.prefixes))
        place = step.place
        new_cells = covered(config, [place]) if place else ()
        cells = tuple(cell for cell in new_cells if cell not in reached)
        soaking = left(config, located.patch.prefixes, place) if place and located.patch.prefixes else []
        longest = max(soaking, key=lambda node: node.soak, default=None)
        yield PlannedStep(
            step,
            tuple(in_path(node.prefix) for node in manual_nodes(located, place)) if place else (),
            cells,
            tuple((path, *rest) for path, rest in counts.items()),
            longest.soak if longest else 0,
            longest.soak_text if longest else "",
            waits_of(step.after, [values for values in merged if values.cell in cells]),
        )
        if step.folded is not None or step.problems or place is None:
            return
        located = step.after
