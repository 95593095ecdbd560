"""Compare what it takes until the program does something: help, completion in the shell, the list of clusters.

    scripts/bench startup [--commodore COMMAND] [--peer PEER] [--runs N] [--json FILE]

The commands are run in turns. Fails if the CPU time of help exceeds what help may take.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _api import serve_api
from _measure import measuring, read_costs
from _report import to_markdown, write_json
from _tools import BenchError, Rounds, Sample, Tool, add_tool_options, choose_tools, describe, end_of, home_environment

HELP_CPU_SECONDS = 0.15
CLUSTERS = 50

# Arguments, and what is added to the environment.
COMMANDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "--help": (["--help"], {}),
    "catalog compile --help": (["catalog", "compile", "--help"], {}),
    "completion": (
        [],
        {"_COMMODORE_COMPLETE": "bash_complete", "COMP_WORDS": "commodore catalog ", "COMP_CWORD": "2"},
    ),
    "catalog list": (["catalog", "list"], {}),
}


def clusters() -> list[dict[str, Any]]:
    """Some clusters as the API gives them."""
    return [
        {
            "id": f"c-bench-{number:02}",
            "displayName": f"Cluster {number}",
            "tenant": "t-bench",
            "facts": {"cloud": "cloudscale", "distribution": "k3s"},
            "gitRepo": {"url": f"ssh://git@git.example.com/catalogs/c-bench-{number:02}.git"},
        }
        for number in range(CLUSTERS)
    ]


def run_commands(tool: Tool, environment: Mapping[str, str], folder: Path) -> list[Sample]:
    """Run every command once, in an empty folder.

    Raises:
        BenchError: a command failed.
    """
    record, log = folder / "costs.jsonl", folder / "log"
    samples = []
    for name, (arguments, more) in COMMANDS.items():
        with log.open("wb") as output:
            code = subprocess.run(
                measuring([*tool.command, *arguments], record, path_prefix=tool.path_prefix),
                cwd=folder,
                env={**environment, **more},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ).returncode
        said = end_of(log)
        if code != 0 or not said:
            raise BenchError(f"{tool.name}: {name} failed:\n{said}")
        samples.append(Sample(name, read_costs(record)[-1]))
    return samples


def take_turns(tools: Sequence[Tool], count: int, scratch: Path) -> Rounds:
    """Run all commands of all tools `count` times, after a round that is not measured: it fills caches of bytecode."""
    rounds: Rounds = {tool.name: [] for tool in tools}
    with serve_api(clusters(), []) as url:
        for number in range(count + 1):
            for tool in tools if number % 2 == 0 else reversed(tools):
                # A home for each tool, which it keeps from round to round.
                environment = home_environment(scratch / tool.name, COMMODORE_API_URL=url, COMMODORE_API_TOKEN="token")
                with tempfile.TemporaryDirectory(dir=scratch) as folder:
                    samples = run_commands(tool, environment, Path(folder))
                if number > 0:
                    rounds[tool.name].append(samples)
    return rounds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_tool_options(parser)
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to this file")
    parsed = parser.parse_args(arguments)
    if parsed.runs < 1:
        parser.error("--runs is at least 1")
    try:
        tools = choose_tools(parsed)
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            machine = describe(tools, Path(scratch))
            rounds = take_turns(tools, parsed.runs, Path(scratch))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    print(to_markdown(rounds, list(COMMANDS), machine, with_memory=False))
    if parsed.json:
        write_json(parsed.json, rounds, list(COMMANDS), machine, runs=parsed.runs)
    taken = statistics.median(samples[0].cost.cpu for samples in rounds["commodore"])
    print(f"\nHelp takes {taken:.3f} s of CPU time; it may take {HELP_CPU_SECONDS} s.")
    return 0 if taken <= HELP_CPU_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
