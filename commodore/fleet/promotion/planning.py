"""All steps that are left for a patch, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from commodore.fleet.merging import Path_
from commodore.fleet.patches import covered
from commodore.fleet.promotion.changing import Found, differences, shown_path
from commodore.fleet.promotion.folding import value_in_words
from commodore.fleet.promotion.gates import manual_nodes
from commodore.fleet.promotion.next_place import left
from commodore.fleet.promotion.promoting import PromoteOptions, Step, next_step
from commodore.fleet.repository.config import Prefix, in_path


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One promotion to come.

    Attributes:
        approvals: the nodes that a person has to approve.
        cells: those that the patch reaches in this step.
        changes: what is different in them: path, value before and after, and how many cells.
        soak: seconds for which nodes soak before it.
    """

    step: Step
    approvals: tuple[str, ...]
    cells: tuple[Prefix, ...]
    changes: tuple[tuple[Path_, Any, Any, int], ...]
    soak: int

    def as_dict(self) -> dict[str, Any]:
        """The step as JSON-ready data."""
        return {
            **self.step.as_dict(),
            "approvals": list(self.approvals),
            "cells": [in_path(cell) for cell in self.cells],
            "soak": self.soak,
            "changes": [
                {
                    "path": shown_path(path),
                    "before": value_in_words(before),
                    "after": value_in_words(after),
                    "cells": number,
                }
                for path, before, after, number in self.changes
            ],
        }


def plan(found: Found, options: PromoteOptions) -> Iterator[PlannedStep]:
    """The steps from where a patch is to the end, each from the fleet that the one before leaves.

    Raises:
        InputError: as `next_step`.
    """
    while True:
        step = next_step(found, options)
        if step.place is None and not step.writes:
            return
        assert step.after is not None
        config = found.fleet.config
        before, after = found.values(), step.after.values()
        counts: dict[Path_, tuple[Any, Any, int]] = {}
        for cell in before:
            for path, old, new in differences(before[cell], after[cell]):
                counts[path] = (old, new, counts.get(path, (old, new, 0))[2] + 1)
        reached = set(covered(config, found.patch.prefixes))
        place = step.place
        new_cells = covered(config, [place]) if place else ()
        waits = left(config, found.patch.prefixes, place) if place and found.patch.prefixes else []
        yield PlannedStep(
            step,
            tuple(in_path(node.prefix) for node in manual_nodes(found, place)) if place else (),
            tuple(cell for cell in new_cells if cell not in reached),
            tuple((path, *rest) for path, rest in counts.items()),
            max((node.soak for node in waits), default=0),
        )
        if step.folded is not None or step.problems or place is None:
            return
        found = step.after
