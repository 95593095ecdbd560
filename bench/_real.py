"""A cluster of real public components, by the script `world` of a folder outside of this repository.

That script makes a whole setup below a new folder and runs one tool through phases there; its README describes it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _measure import Cost, measuring, read_costs
from _tools import BenchError, Sample, Tool, digest_tree, end_of

# The script's phase behind one of ours, where it has another name.
PHASES = {"warm": "noop"}

# env.sh sets up the environment of its own folder; the program to run and its arguments come after it.
_IN_ENVIRONMENT = '. ./env.sh; exec "$0" "$@"'


def run_real(real: Path, tool: Tool, phases: Sequence[str], folder: Path) -> list[Sample]:
    """Run one tool through the phases in a new setup.

    Args:
        real: the folder with `world` and `env.sh`.
        tool: the tool.
        phases: phases in their order, each once.
        folder: an empty folder for everything that is made.

    Returns:
        One sample for each phase; its result is the digest of the catalog.

    Raises:
        BenchError: the script or the tool failed.
    """
    empty_at = phases.index("warm") + 1 if "warm" in phases else 0
    costs = _run_script(real, tool, [PHASES.get(phase, phase) for phase in phases], folder, empty_at=empty_at)
    samples = []
    for phase, cost, row in zip(phases, costs, _rows(folder), strict=True):
        if row["phase"] != PHASES.get(phase, phase):
            raise BenchError(f"the script ran phase {row['phase']} for {phase}")
        samples.append(Sample(phase, cost, _digest(folder, row)))
    return samples


def run_real_fleet(real: Path, tool: Tool, clusters: int, folder: Path) -> list[Sample]:
    """Let one tool compile and push as many clusters, each in a new working directory, with the caches of one home.

    Returns:
        One sample for each cluster.

    Raises:
        BenchError: the script or the tool failed.
    """
    costs = _run_script(real, tool, ["cold"], folder, clusters=clusters)
    return [Sample(row["cluster"], cost, _digest(folder, row)) for cost, row in zip(costs, _rows(folder), strict=True)]


def _run_script(
    real: Path, tool: Tool, phases: Sequence[str], folder: Path, *, clusters: int = 1, empty_at: int = 0
) -> list[Cost]:
    """Time and memory of each command, in the order of the script."""
    record, log = folder / "costs.jsonl", folder / "world.log"
    command = measuring(tool.command, record, path_prefix=tool.path_prefix, empty_folder_at=empty_at)
    script = [sys.executable, "./world", "--commodore", shlex.join(command), "--out", str(folder / "world")]
    script += ["--phases", ",".join(phases), "--clusters", str(clusters)]
    with log.open("wb") as output:
        code = subprocess.run(
            ["bash", "-c", _IN_ENVIRONMENT, *script],
            cwd=real,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
    costs = read_costs(record)
    if code != 0 or len(costs) != len(phases) * clusters or any(cost.code for cost in costs):
        raise BenchError(f"{tool.name}: {real / 'world'} failed:\n{end_of(log)}")
    return list(costs)


def _rows(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / "world" / "result.json").read_text())["rows"]
    return rows


def _digest(folder: Path, row: dict[str, Any]) -> str:
    return digest_tree(folder / "world" / "result" / row["cluster"] / row["phase"] / "catalog")
