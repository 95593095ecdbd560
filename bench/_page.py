"""The page of the documentation about synthetic clusters, and everything that was measured as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from _report import footnote, to_markdown
from _scaling import growth, to_plot, to_table
from _tools import Rounds

# Phases in the plot: as few as tell the most.
_PLOTTED = ("cold", "rerender", "noop", "change")

_INTRODUCTION = """\
# Performance from {first} to {last} instances

Generated clusters of several sizes, compiled by `scripts/bench synthetic`. A target's parameters are {inventory} KiB of
JSON at every size (more where the instances need more). Of {weights} components {mix}. Every fifth
instance is an alias of another component. An instance renders two or three Jsonnet programs. Those with charts fetch
the chart from a repository and set namespaces with a filter, those with kustomizations fetch them with git and label
the objects with a filter in Jsonnet.

*cold* has an empty working directory and empty caches, *noop* compiles again when nothing has changed, *change* after
one parameter of one component has changed, *warm* has an empty working directory and full caches; all of these push.
*nofetch* is local and without fetching when nothing has changed, *rerender* the same after a parameter has changed that
every instance reads. CPU and memory are those of the whole process tree. *peak* counts memory that processes share
once, *sum of RSS* once for each process.
"""

_GROWTH = """\
## How it grows

The power of the number of instances with which the time of commodore grows from one size to the next: 1 is in
proportion, 2 is four times as much for twice as many. Below 1 there is what every run takes however small it is. Every
instance sees the whole hierarchy, so a hierarchy that grows with the instances makes it more.
"""

_FLEET = """\
## One cluster after another

{clusters} clusters of {instances} instances that differ in facts, some parameters and a tenth of their instances. Each
in a new working directory, all with the caches of one home.
"""


def write_page(
    arguments: argparse.Namespace, machine: dict[str, Any], sizes: Mapping[int, Rounds], fleet: Rounds
) -> None:
    """Write `scaling.md` and `scaling.svg` to the folder of the arguments."""
    phases: list[str] = arguments.phases
    mix = ", ".join(f"{weight} are {kind}" for kind, weight in arguments.mix.items())
    parts = [
        _INTRODUCTION.format(
            first=min(sizes),
            last=max(sizes),
            inventory=arguments.inventory // 1024,
            weights=sum(arguments.mix.values()),
            mix=mix,
        )
    ]
    if len(sizes) > 1:
        plotted = [phase for phase in _PLOTTED if phase in phases]
        (arguments.docs / "scaling.svg").write_text(to_plot(sizes, plotted))
        parts.append("![Wall time against the number of instances](scaling.svg)\n")
    parts += [to_table(sizes, phases) + "\n", footnote(_together(sizes), machine) + "\n"]
    if len(sizes) > 1:
        parts += [_GROWTH, growth(sizes, phases) + "\n"]
    if fleet:
        names = [sample.phase for sample in next(iter(fleet.values()))[0]]
        about = _FLEET.format(clusters=arguments.fleet, instances=arguments.instances[0])
        parts += [about, to_markdown(fleet, names, machine) + "\n"]
    (arguments.docs / "scaling.md").write_text("\n".join(parts))


def to_json(arguments: argparse.Namespace, machine: dict[str, Any], sizes: Mapping[int, Rounds], fleet: Rounds) -> str:
    """Every sample, with the machine and what was asked for."""
    about = {name: getattr(arguments, name) for name in ("instances", "inventory", "mix", "seed", "runs", "phases")}
    content = {
        **about,
        "machine": machine,
        "sizes": {str(instances): _plain(rounds) for instances, rounds in sizes.items()},
        "fleet": _plain(fleet),
    }
    return json.dumps(content, indent=1) + "\n"


def _plain(rounds: Rounds) -> dict[str, Any]:
    return {name: [[asdict(sample) for sample in samples] for samples in each] for name, each in rounds.items()}


def _together(sizes: Mapping[int, Rounds]) -> Rounds:
    """Samples of all sizes, as many rounds as there were: for what is said about the loads."""
    together: Rounds = {}
    for rounds in sizes.values():
        for name, each in rounds.items():
            merged = together.setdefault(name, [[] for _ in each])
            for number, samples in enumerate(each):
                merged[number] = merged[number] + samples
    return together
