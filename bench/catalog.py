"""Compare whole runs of `catalog compile` with the published tool's: time, CPU time, memory, in several phases.

    scripts/bench catalog --peer PEER [--world example|real] [--real FOLDER] [--runs N] [--phases LIST] [--json FILE]

In every round both tools go through the phases, each in a new setup with an empty home and empty caches, and take turns
in going first. Phases, in any order that begins with cold:
  cold     empty working directory, empty caches, empty catalog repository; push
  noop     the same again: nothing changed
  change   a parameter in the tenant's repository changed
  warm     nothing changed, but the working directory is empty, as on a build machine that keeps its caches only
  dry      another change, without --push
  local    --local in the same working directory
  nofetch  --local --no-fetch-dependencies

With --fleet N it compiles and pushes N clusters of the world `real` instead, one after another, each in a new working
directory, with the caches of one home.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from _example import run_example
from _fleet import sum_up_fleet
from _real import run_real, run_real_fleet
from _report import to_markdown, write_json
from _tools import BenchError, Rounds, Sample, Tool, add_tool_options, check_phases, choose_tools, describe

PHASES = ("cold", "noop", "change", "warm", "dry", "local", "nofetch")

# Runs one tool through phases, with an empty folder to work in.
Run = Callable[[Tool, Sequence[str], Path], list[Sample]]


def interleave(run: Run, tools: Sequence[Tool], phases: Sequence[str], count: int, scratch: Path) -> Rounds:
    """Let the tools take turns `count` times; who goes first changes from round to round."""
    rounds: Rounds = {tool.name: [] for tool in tools}
    for number in range(count):
        for tool in tools if number % 2 == 0 else reversed(tools):
            with tempfile.TemporaryDirectory(dir=scratch, prefix=f"{tool.name}-") as folder:
                samples = run(tool, phases, Path(folder))
            rounds[tool.name].append(samples)
            message = "  ".join(f"{sample.phase} {sample.cost.wall:.2f}" for sample in samples)
            print(f"round {number + 1}, {tool.name}: {message}", file=sys.stderr, flush=True)
    return rounds


def choose_world(arguments: argparse.Namespace) -> Run:
    """Return the runner of a tool in the requested world.

    Raises:
        BenchError: the world is not there.
    """
    if arguments.world == "example":
        return run_example
    real: Path | None = arguments.real
    if real is None or not (real / "world").is_file():
        raise BenchError("the world `real` needs its folder: --real FOLDER, or COMMODORE_REAL")
    folder = real.resolve()
    return lambda tool, phases, scratch: run_real(folder, tool, phases, scratch)


def choose_fleet(arguments: argparse.Namespace) -> Run:
    """Return the runner of a tool on the clusters of a fleet, which only the world `real` has.

    Raises:
        BenchError: the world is not there, or it is another one.
    """
    if arguments.world != "real":
        raise BenchError("--fleet needs --world real; a fleet of made-up clusters is `synthetic --fleet`")
    choose_world(arguments)
    folder: Path = arguments.real.resolve()
    return lambda tool, _, scratch: sum_up_fleet(run_real_fleet(folder, tool, arguments.fleet, scratch))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_tool_options(parser)
    parser.add_argument("--world", choices=["example", "real"], default="example")
    parser.add_argument("--real", type=Path, default=os.environ.get("COMMODORE_REAL"), metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--phases", default="cold,noop,change,warm", metavar="LIST")
    parser.add_argument("--fleet", type=int, default=0, metavar="N", help="instead of phases: N clusters, one by one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to this file")
    parsed = parser.parse_args(arguments)
    parsed.phases = parsed.phases.split(",")
    check_phases(parser, parsed.phases, PHASES)
    if parsed.runs < 1 or parsed.fleet < 0:
        parser.error("--runs is at least 1 and --fleet at least 0")
    return parsed


def main() -> int:
    arguments = parse()
    try:
        tools = choose_tools(arguments)
        run = choose_fleet(arguments) if arguments.fleet else choose_world(arguments)
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            machine = describe(tools, Path(scratch))
            rounds = interleave(run, tools, arguments.phases, arguments.runs, Path(scratch))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    names = [sample.phase for sample in next(iter(rounds.values()))[0]]
    print(to_markdown(rounds, names, machine))
    if arguments.json:
        write_json(arguments.json, rounds, names, machine, world=arguments.world, runs=arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
