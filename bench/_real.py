"""A cluster of real public components, by the script `world` of a folder that is no part of this repository.

That script makes a whole setup below a new folder and runs one tool through phases there; its README describes it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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
    record, out, log = folder / "costs.jsonl", folder / "world", folder / "world.log"
    empty_at = phases.index("warm") + 1 if "warm" in phases else 0
    command = measuring(tool.command, record, path_prefix=tool.path_prefix, empty_folder_at=empty_at)
    script = [sys.executable, "./world", "--commodore", shlex.join(command), "--out", str(out)]
    script += ["--phases", ",".join(PHASES.get(phase, phase) for phase in phases)]
    with log.open("wb") as output:
        code = subprocess.run(
            ["bash", "-c", _IN_ENVIRONMENT, *script],
            cwd=real,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
    costs = read_costs(record)
    if code != 0 or len(costs) != len(phases) or any(cost.code for cost in costs):
        raise BenchError(f"{tool.name}: {real / 'world'} failed:\n{end_of(log)}")
    return list(_samples(phases, costs, out))


def _samples(phases: Sequence[str], costs: Sequence[Cost], out: Path) -> list[Sample]:
    rows = json.loads((out / "result.json").read_text())["rows"]
    samples = []
    for phase, cost, row in zip(phases, costs, rows, strict=True):
        if row["phase"] != PHASES.get(phase, phase):
            raise BenchError(f"the script ran phase {row['phase']} for {phase}")
        catalog = out / "result" / row["cluster"] / row["phase"] / "catalog"
        samples.append(Sample(phase, cost, digest_tree(catalog)))
    return samples
