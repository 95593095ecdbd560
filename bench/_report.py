"""Measurements as a Markdown table and as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from _tools import Rounds, Sample

MEBI = 2**20


def to_markdown(rounds: Rounds, phases: Sequence[str], machine: dict[str, Any], *, with_memory: bool = True) -> str:
    """A table with a line for each phase: medians (lowest to highest), and how many times as much the second tool took.

    The ratio is that of the medians; behind it the lowest and the highest of the ratios within one round. Memory is
    sampled and says nothing about commands that end within a few tenths of a second.
    """
    names = list(rounds)
    head = ["phase"]
    head += [f"{name} wall s" for name in names] + _ratio_head(names, "wall")
    head += [f"{name} CPU s" for name in names] + _ratio_head(names, "CPU")
    head += [f"{name} peak MiB" for name in names] if with_memory else []
    compared = len(names) > 1 and any(sample.result for samples in rounds[names[0]] for sample in samples)
    head += ["same result"] if compared else []
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for index, phase in enumerate(phases):
        columns = [[samples[index] for samples in rounds[name]] for name in names]
        line = [phase, *_columns(columns, "wall"), *_columns(columns, "cpu")]
        if with_memory:
            line += [f"{statistics.median(sample.cost.pss for sample in column) / MEBI:.0f}" for column in columns]
        line += [_same(columns)] if compared else []
        lines.append(line)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{footnote(rounds, machine)}"


def write_json(path: Path, rounds: Rounds, phases: Sequence[str], machine: dict[str, Any], **about: str | int) -> None:
    """Every sample, with the machine and `about`, what was run."""
    tools = {
        name: [[asdict(sample) for sample in samples] for samples in per_round] for name, per_round in rounds.items()
    }
    content = {**about, "phases": list(phases), "machine": machine, "rounds": tools}
    path.write_text(json.dumps(content, indent=1) + "\n")


def _ratio_head(names: list[str], what: str) -> list[str]:
    return [f"{what} {names[1]}/{names[0]}"] if len(names) > 1 else []


def _columns(columns: list[list[Sample]], what: str) -> list[str]:
    values: list[list[float]] = [[getattr(sample.cost, what) for sample in column] for column in columns]
    cells = [_spread(each, 2 if max(each) >= 1 else 3) for each in values]
    if len(values) > 1:
        ours, theirs = values[:2]
        pairs = [their / our for our, their in zip(ours, theirs, strict=True) if our > 0]
        middle = statistics.median(ours)
        cells.append(f"{statistics.median(theirs) / middle:.1f} ({min(pairs):.1f}-{max(pairs):.1f})" if middle else "")
    return cells


def _spread(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def _same(columns: list[list[Sample]]) -> str:
    results = {sample.result for column in columns for sample in column}
    return "yes" if len(results) == 1 else "NO"


def footnote(rounds: Rounds, machine: dict[str, Any]) -> str:
    """The method and the machine of a measurement."""
    samples = [sample for per_round in rounds.values() for each in per_round for sample in each]
    loads = [sample.cost.load for sample in samples]
    count = len(next(iter(rounds.values())))
    tools = "; ".join(
        f"{name}: {about['version'] or 'version unknown'}, Python {about['python'] or 'unknown'}"
        for name, about in machine["tools"].items()
    )
    return (
        f"Medians (lowest-highest) of {count} interleaved {'run' if count == 1 else 'runs'}; CPU and memory of the"
        f" whole process tree, memory that processes share counted once.\n"
        f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_bytes'] / 2**30:.0f} GiB, {machine['system']},"
        f" git {machine['git']}; load {min(loads):.1f}-{max(loads):.1f} when the commands started.\n"
        f"Commit {machine['commit'] or 'unknown'}. {tools}."
    )
