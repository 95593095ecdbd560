"""Time of runs of several sizes as a table, and its growth with the number of instances."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from _plot import Point, Series, draw
from _tools import Rounds, Sample

MEBI = 2**20
_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#17becf", "#7f7f7f")

# For each number of instances what was measured.
Sizes = Mapping[int, Rounds]


@dataclass(frozen=True, slots=True)
class _Cell:
    """All samples of one tool in one phase at one size."""

    instances: int
    tool: str
    phase: str
    samples: tuple[Sample, ...]

    def middle(self, what: str) -> float:
        return statistics.median(getattr(sample.cost, what) for sample in self.samples)

    def spread(self, what: str) -> str:
        values = [getattr(sample.cost, what) for sample in self.samples]
        return f"{self.middle(what):.2f} ({min(values):.2f}-{max(values):.2f})"


def to_table(sizes: Sizes, phases: Sequence[str]) -> str:
    """A Markdown table: a line for each phase and size, with how many times as much the second tool took."""
    names = list(dict.fromkeys(name for rounds in sizes.values() for name in rounds))
    head = ["phase", "instances"]
    for name in names:
        head += [f"{name} wall s", f"{name} CPU s", f"{name} peak MiB", f"{name} sum of RSS MiB"]
    if len(names) > 1:
        ours, theirs = names[:2]
        head += [f"wall {theirs}/{ours}", f"CPU {theirs}/{ours}", f"memory {theirs}/{ours}", "same catalog"]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for phase in phases:
        for instances in sorted(sizes):
            cells = {cell.tool: cell for cell in _cells(sizes, phase) if cell.instances == instances}
            if cells:
                lines.append([phase, str(instances), *_columns(names, cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def differences(sizes: Sizes, phases: Sequence[str]) -> list[str]:
    """Sizes at which the tools did not make the same catalog."""
    results = []
    for phase in phases:
        for instances in sorted(sizes):
            cells = [cell for cell in _cells(sizes, phase) if cell.instances == instances]
            if len({sample.result for cell in cells for sample in cell.samples}) > 1:
                results.append(f"{phase} with {instances} instances")
    return results


def growth(sizes: Sizes, phases: Sequence[str]) -> str:
    """The growth of the first tool's time: the power of the number of instances, from each size to the next."""
    name = next(iter(next(iter(sizes.values()))))
    numbers = sorted(sizes)
    lines = [["phase", *(f"{value} to {other}" for value, other in itertools.pairwise(numbers)), "s per instance"]]
    lines.append(["---"] + ["---:"] * (len(lines[0]) - 1))
    for phase in phases:
        cells = {cell.instances: cell.middle("wall") for cell in _cells(sizes, phase) if cell.tool == name}
        if len(cells) != len(numbers):
            continue
        powers = [
            math.log(cells[other] / cells[value]) / math.log(other / value)
            for value, other in itertools.pairwise(numbers)
        ]
        each = (cells[numbers[-1]] - cells[numbers[0]]) / max(1, numbers[-1] - numbers[0])
        lines.append([phase, *(f"{power:.2f}" for power in powers), f"{each:.3f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def to_plot(sizes: Sizes, phases: Sequence[str]) -> str:
    """Wall time against the number of instances, as an SVG image: a line for each tool and phase."""
    names = list(dict.fromkeys(name for rounds in sizes.values() for name in rounds))
    lines = []
    for number, phase in enumerate(phases):
        for dashed, name in enumerate(names):
            points = [_point(cell) for cell in _cells(sizes, phase) if cell.tool == name]
            if points:
                colour = _COLOURS[number % len(_COLOURS)]
                lines.append(Series(f"{name}, {phase}", colour, bool(dashed), tuple(points)))
    return draw(lines, "instances", "seconds, median and range")


def _point(cell: _Cell) -> Point:
    walls = [sample.cost.wall for sample in cell.samples]
    return Point(cell.instances, statistics.median(walls), min(walls), max(walls))


def _cells(sizes: Sizes, phase: str) -> Iterator[_Cell]:
    for instances in sorted(sizes):
        for name, rounds in sizes[instances].items():
            samples = tuple(sample for samples in rounds for sample in samples if sample.phase == phase)
            if samples:
                yield _Cell(instances, name, phase, samples)


def _columns(names: Sequence[str], cells: Mapping[str, _Cell]) -> list[str]:
    columns = []
    for name in names:
        cell = cells.get(name)
        if cell is None:
            columns += [""] * 4
        else:
            memory = [f"{cell.middle(what) / MEBI:.0f}" for what in ("pss", "rss")]
            columns += [cell.spread("wall"), cell.spread("cpu"), *memory]
    if len(names) < 2:
        return columns
    ours, theirs = (cells.get(name) for name in names[:2])
    if ours is None or theirs is None:
        return columns + [""] * 4
    columns += [f"{theirs.middle(what) / ours.middle(what):.1f}" for what in ("wall", "cpu", "pss")]
    results = {sample.result for cell in cells.values() for sample in cell.samples}
    return [*columns, "yes" if len(results) == 1 else "NO"]
