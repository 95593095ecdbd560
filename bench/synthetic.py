"""Measure catalog compiles of made-up clusters of several sizes, compared with the published tool if there is one.

    scripts/bench synthetic --instances 10,30,100 --peer PEER --runs 3
    scripts/bench synthetic --instances 30 --fleet 20 --phases cold
    scripts/bench synthetic --instances 10,30,100,300 --docs docs/explanation

Everything that is compiled is made anew: a hierarchy and components with jsonnet, helm and kustomize in git
repositories, charts behind a proxy on loopback. In every round each tool has a home, caches and working directories of
its own, and the tools take turns in going first. Fails if their catalogs differ. Needs git, helm and kustomize.
Phases, in any order that begins with cold:
  cold      empty working directory, empty caches, empty catalog repository; push
  noop      the same again: nothing changed
  change    one parameter of one component changed
  warm      nothing changed, but the working directory is empty, as on a build machine that keeps its caches only
  nofetch   --local --no-fetch-dependencies, nothing changed
  rerender  the same, but a parameter that every instance reads has changed: all are rendered again, nothing is fetched
  uncached  nofetch with --no-cache, for a tool that has it
  shadow    nofetch with --shadow 100, for a tool that has it: whatever comes from a cache is rendered too, and compared
--fleet N compiles N clusters in addition, one after another, each in a new working directory, with the caches of one
home; they have the first number of --instances and differ in facts, some parameters and a tenth of their instances.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _fleet import sum_up_fleet
from _page import to_json, write_page
from _phases import PHASES, impossible_phases, run_fleet, run_phases
from _report import to_markdown
from _scaling import differences, growth, to_table
from _synthetic import Kind, Size, generate, make_plan
from _synthetic.plan import MIX
from _tools import BenchError, Rounds, Tool, add_tool_options, check_phases, choose_tools, describe
from catalog import interleave

UNITS = {"KiB": 2**10, "MiB": 2**20}
DEFAULT_PHASES = "cold,noop,change,warm,nofetch,rerender"


def measure_sizes(arguments: argparse.Namespace, tools: Sequence[Tool], scratch: Path) -> dict[int, Rounds]:
    """Run the tools through the phases at each size.

    Raises:
        BenchError: a tool failed.
    """
    sizes = {}
    without = {tool.name: impossible_phases(tool, scratch) for tool in tools}
    for instances in arguments.instances:
        setup = generate(make_plan(_size(arguments, instances)), scratch / f"setup-{instances}")
        print(f"{instances} instances of {len(setup.plan.components)} components", file=sys.stderr, flush=True)
        sizes[instances] = interleave(
            lambda tool, phases, folder, setup=setup: run_phases(  # type: ignore[misc]
                setup, tool, [phase for phase in phases if phase not in without[tool.name]], folder
            ),
            _tools_for(tools, instances, arguments),
            arguments.phases,
            arguments.runs,
            scratch,
        )
    return sizes


def measure_fleet(arguments: argparse.Namespace, tools: Sequence[Tool], scratch: Path) -> Rounds:
    """Compile all clusters of a set-up one after another; the samples sum them up.

    Raises:
        BenchError: a tool failed.
    """
    instances = arguments.instances[0]
    plan = make_plan(_size(arguments, instances, clusters=arguments.fleet))
    setup = generate(plan, scratch / "setup-fleet")
    print(f"{arguments.fleet} clusters of {instances} instances", file=sys.stderr, flush=True)
    return interleave(
        lambda tool, _, folder: sum_up_fleet(run_fleet(setup, tool, folder)),
        _tools_for(tools, instances, arguments),
        [],
        arguments.runs,
        scratch,
    )


def _size(arguments: argparse.Namespace, instances: int, clusters: int = 1) -> Size:
    return Size(instances, arguments.inventory, arguments.mix, clusters, arguments.seed)


def _tools_for(tools: Sequence[Tool], instances: int, arguments: argparse.Namespace) -> list[Tool]:
    return [tool for tool in tools if tool.name != "peer" or instances <= arguments.peer_up_to]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_tool_options(parser)
    parser.add_argument("--peer-up-to", type=int, default=100, metavar="N", help="leave the peer out of larger sizes")
    parser.add_argument("--instances", type=_numbers, default=[10, 30], metavar="LIST", help="default: 10,30")
    parser.add_argument(
        "--inventory", type=_bytes, default="400KiB", metavar="SIZE", help="of one target's parameters; default: 400KiB"
    )
    parser.add_argument("--mix", type=_mix, default=dict(MIX), metavar="LIST", help="jsonnet=6,helm=3,kustomize=1")
    parser.add_argument("--fleet", type=int, default=0, metavar="N", help="number of clusters, default: none")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--runs", type=int, default=3, metavar="N")
    parser.add_argument("--phases", type=lambda text: text.split(","), default=DEFAULT_PHASES, metavar="LIST")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to this file")
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help="write scaling.md and scaling.svg to this folder")
    parsed = parser.parse_args(arguments)
    check_phases(parser, parsed.phases, PHASES)
    if parsed.runs < 1 or parsed.fleet < 0:
        parser.error("--runs is at least 1 and --fleet at least 0")
    if parsed.docs and not parsed.docs.is_dir():
        parser.error(f"no folder {parsed.docs}")
    return parsed


def _numbers(text: str) -> list[int]:
    numbers = sorted({int(number) for number in text.split(",")})
    if numbers[0] < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return numbers


def _bytes(text: str) -> int:
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


def _mix(text: str) -> dict[Kind, int]:
    mix: dict[Kind, int] = {}
    for part in text.split(","):
        name, _, weight = part.partition("=")
        kind = next((kind for kind in MIX if kind == name), None)
        if kind is None or not weight.isdigit():
            raise argparse.ArgumentTypeError(f"{part!r} is not KIND=WEIGHT with one of {', '.join(MIX)}")
        mix[kind] = int(weight)
    if not any(mix.values()):
        raise argparse.ArgumentTypeError("nothing to make")
    return mix


def main() -> int:
    arguments = parse()
    try:
        tools = choose_tools(arguments)
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            machine = describe(tools, Path(scratch))
            sizes = measure_sizes(arguments, tools, Path(scratch))
            fleet = measure_fleet(arguments, tools, Path(scratch)) if arguments.fleet else {}
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    return report(arguments, machine, sizes, fleet)


def report(arguments: argparse.Namespace, machine: dict[str, Any], sizes: dict[int, Rounds], fleet: Rounds) -> int:
    """Print what was measured, write the files that were asked for; 1 if catalogs differ."""
    tables = [to_table(sizes, arguments.phases)]
    if len(sizes) > 1:
        tables.append(growth(sizes, arguments.phases))
    print("\n\n".join(tables))
    wrong = differences(sizes, arguments.phases)
    if fleet:
        names = [sample.phase for sample in next(iter(fleet.values()))[0]]
        print("\n" + to_markdown(fleet, names, machine))
        if len({tuple(sample.result for sample in samples) for each in fleet.values() for samples in each}) > 1:
            wrong.append("fleet")
    if arguments.json:
        arguments.json.write_text(to_json(arguments, machine, sizes, fleet))
    if arguments.docs:
        write_page(arguments, machine, sizes, fleet)
    for place in wrong:
        print(f"the catalogs differ: {place}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
