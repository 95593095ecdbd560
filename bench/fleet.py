"""Time and memory of `fleet compile`: all clusters in one run.

    scripts/bench fleet [--real FOLDER] [--clusters N] [--instances N] [--plain] [--phases LIST] [--json FILE]

  cold       empty home, empty catalogs: compile and push
  unchanged  the same again
  change     a parameter that all clusters have is another: compile and push
  report     show what that came to
  elsewhere  a new working directory, empty catalogs, the caches of the home
  dask       as cold, in another empty home, by Dask with two workers on this machine

`compile` runs once in each phase; the digest is that of all catalogs. The clusters are those of `--real`, a folder with
the scripts `world` and `env.sh`, or made up.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from _fleets import Fleet, add_fleet_options, open_fleet
from _measure import Cost, measuring, read_costs
from _tools import BenchError, describe, end_of, make_tool

PHASES = ("cold", "unchanged", "change", "report", "elsewhere", "dask")
_PROGRAM = Path(sys.executable).with_name("commodore")


def measure(fleet: Fleet, phase: str) -> tuple[Cost, str]:
    """Time and memory of a phase, and a digest of the catalogs.

    Raises:
        BenchError: the program failed.
    """
    work, environment = fleet.folder / "work", fleet.environment
    words = ["compile", "--cluster-file", str(fleet.file), "--push"]
    if phase in ("cold", "elsewhere", "dask"):
        shutil.rmtree(work, ignore_errors=True)
        fleet.reset()
    if phase in ("cold", "dask"):
        shutil.rmtree(environment["XDG_CACHE_HOME"], ignore_errors=True)
    if phase == "change":
        fleet.change(1)
    if phase == "report":
        words = ["report"]
    if phase == "dask":
        words += ["--engine", "dask", "--workers", "2"]
    record, log = fleet.folder / "costs.jsonl", fleet.folder / "fleet.log"
    command = measuring([str(_PROGRAM), "-d", str(work), "fleet", *words], record)
    with log.open("wb") as output:
        code = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        ).returncode
    if code != 0:
        raise BenchError(f"{phase}: fleet {' '.join(words)} ended with {code}:\n{end_of(log)}")
    trees = fleet.trees()
    if len(trees) != len(fleet.clusters):
        raise BenchError(f"{phase}: {len(trees)} of {len(fleet.clusters)} catalogs were pushed")
    return read_costs(record)[-1], hashlib.sha256(json.dumps(trees, sort_keys=True).encode()).hexdigest()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_fleet_options(parser, instances=18)
    parser.add_argument("--phases", type=lambda text: text.split(","), default=list(PHASES), metavar="LIST")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to this file")
    parsed = parser.parse_args()
    if unknown := [phase for phase in parsed.phases if phase not in PHASES]:
        parser.error(f"unknown phases: {', '.join(unknown)}")
    return parsed


def main() -> int:
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        try:
            machine = describe([make_tool("commodore", str(_PROGRAM))], Path(scratch))
            with open_fleet(arguments, Path(scratch) / "fleet") as fleet:
                samples = measure_all(fleet, arguments.phases)
        except BenchError as error:
            print(error, file=sys.stderr)
            return 1
    if arguments.json:
        content = {"clusters": arguments.clusters, "machine": machine, "phases": samples}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n")
    return 0


def measure_all(fleet: Fleet, phases: list[str]) -> list[dict[str, object]]:
    """Run the phases in their order and print what each took."""
    print("| phase | wall s | CPU s | peak MiB | load | catalogs |\n| --- | ---: | ---: | ---: | ---: | --- |")
    samples = []
    for phase in phases:
        cost, digest = measure(fleet, phase)
        samples.append({"phase": phase, "result": digest, **asdict(cost)})
        figures = f"{cost.wall:.1f} | {cost.cpu:.1f} | {cost.pss / 2**20:.0f} | {cost.load:.1f}"
        print(f"| {phase} | {figures} | {digest[:8]} |", flush=True)
    return samples


if __name__ == "__main__":
    sys.exit(main())
