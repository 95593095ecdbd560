"""Which Kapitan dependencies are fetched together, one after another, or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from commodore.engine._tasks import Dependency, FetchTask, Run
from commodore.errors import CommodoreError, InputError, PolicyError
from commodore.git import redact
from commodore.workspace import is_inside

Chain = tuple[tuple[Dependency, ...], ...]

_ORDER = ("http", "git", "helm", "oci")
"""Kapitan's order of kinds; it decides where several kinds write to one folder."""


def check_outputs(dependencies: Sequence[Dependency], run: Run) -> list[tuple[str, CommodoreError]]:
    """The dependencies that must not be fetched, each with its instance."""
    found: list[tuple[str, CommodoreError]] = []
    roots = (run.request.root, run.request.output, *(job.directory for job in run.jobs.values()))
    charts: dict[Path, Dependency] = {}
    for item in dependencies:
        where = f"instance {item.instance!r}, dependency {item.index} ({item.kind} {redact(item.source)})"
        if not any(is_inside(item.output, root) for root in roots):
            error: CommodoreError = PolicyError(
                "CMD-ENG-033",
                f"{where}: its output path {item.output} lies outside of the working directory and the component",
                hint="write it relative to the working directory, or below ${_base_directory}",
            )
            found.append((item.instance, error))
        elif item.kind == "helm":
            other = charts.setdefault(item.output, item)
            if other.group != item.group:
                error = InputError(
                    "CMD-ENG-034",
                    f"{where}: instance {other.instance!r} fetches another chart or version to the same output path",
                    hint="put the version into the output path",
                    locations=[str(item.output)],
                )
                found.append((item.instance, error))
    return found


def plan(dependencies: Iterable[Dependency]) -> list[Chain]:
    """Every group once (Kapitan's grouping); groups that write to the same place one after another, in fixed order."""
    groups: dict[tuple[str, ...], dict[Path, Dependency]] = defaultdict(dict)
    for item in dependencies:
        groups[item.group].setdefault(item.output, item)
    ordered = sorted(groups.items(), key=lambda entry: (_ORDER.index(entry[0][0]), entry[0]))
    chains: list[list[tuple[Dependency, ...]]] = []
    for _, items in ordered:
        group = tuple(items.values())
        touching = [chain for chain in chains if any(_overlap(group, other) for other in chain)]
        joined = [*(other for chain in touching for other in chain), group]
        chains = [chain for chain in chains if chain not in touching]
        chains.append(sorted(joined, key=lambda members: _ORDER.index(members[0].group[0])))
    return [tuple(chain) for chain in chains]


def _overlap(one: tuple[Dependency, ...], other: tuple[Dependency, ...]) -> bool:
    return any(
        a.output == b.output or a.output in b.output.parents or b.output in a.output.parents for a in one for b in other
    )


def as_tasks(chains: Sequence[Chain], run: Run, workers: int) -> list[FetchTask]:
    """The chains dealt out to at most as many tasks as there are workers; a worker fetches on several threads."""
    places = [run.staging / "fetch" / str(number) for number in range(len(chains))]
    count = min(workers, len(chains))
    return [FetchTask(run, tuple(chains[start::count]), tuple(places[start::count])) for start in range(count)]
