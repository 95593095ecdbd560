"""Hydrate made-up Applications to branches: time and memory of a first run, of a change, and of a run with nothing new.

    python bench/hydrate.py [--applications N]... [--branches N]

Sources are folders with ten plain objects each, in one local repository, which the branches are in, too; so what is
measured is the work around rendering: planning, commits, pushes and notes. Every run is a process of its own. Prints
seconds of wall clock and CPU and the highest memory of the process tree.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from _measure import measuring, read_costs

OBJECTS = 10
IDENTITY = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"]


def sources(folder: Path, applications: int, value: int) -> None:
    """The files of all Applications; a tenth of them have the value."""
    for number in range(applications):
        path = folder / "apps" / f"app-{number:04d}" / "objects.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        own = value if number // 10 % 10 == 0 else 0
        path.write_text(
            "---\n".join(
                f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{item}, namespace: n}}\ndata: {{v: '{own}'}}\n"
                for item in range(OBJECTS)
            )
        )


def config(file: Path, url: str, applications: int, branches: int) -> None:
    """A `hydrate.yaml` that spreads the Applications over branches."""
    lines = ["apiVersion: commodore.dev/v1alpha1", "kind: HydrateConfig"]
    lines += [f"defaults: {{drySource: {{repoURL: '{url}', targetRevision: main}}}}", "entries:"]
    lines += [
        f"- {{name: app-{number:04d}, drySource: {{path: apps/app-{number:04d}}}, syncSource:"
        f" {{targetBranch: env/b{number % branches}, path: app-{number:04d}}}}}"
        for number in range(applications)
    ]
    file.write_text("\n".join(lines) + "\n")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measure(folder: Path, applications: int, branches: int) -> None:
    """One size: three runs."""
    checkout, bare = folder / "checkout", folder / "shop.git"
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git(folder, "init", "--quiet", "--initial-branch=main", str(checkout))
    config(folder / "hydrate.yaml", f"file://{bare}", applications, branches)
    command = [sys.executable, "-m", "commodore", "-q", "-d", str(folder / "work"), "hydrate", "run"]
    record = folder / "costs"
    for value, name in ((1, "first"), (2, "a tenth changed"), (0, "nothing new")):
        if value:
            sources(checkout, applications, value)
            git(checkout, "add", "--all")
            git(checkout, "commit", "--quiet", "-m", f"Set {value}")
            git(checkout, "push", "--quiet", f"file://{bare}", "main")
        run = measuring([*command, str(folder / "hydrate.yaml")], record)
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        cost = read_costs(record)[-1]
        memory = cost.pss / (1 << 20)
        print(
            f"{applications:5d} to {branches}  {name:16s} {cost.wall:6.2f} s  {cost.cpu:6.2f} s CPU  {memory:4.0f} MiB"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each size; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--applications", type=int, action="append")
    parser.add_argument("--branches", type=int, default=10)
    given = parser.parse_args(arguments)
    for applications in given.applications or [100, 200, 400]:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), applications, given.branches)
    return 0


if __name__ == "__main__":
    sys.exit(main())
