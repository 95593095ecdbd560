"""Compare two made-up catalogs object by object: time and memory, compared with `diff -r` on the same folders.

If `dyff` is on PATH, it compares the same objects as one file, too.

    python bench/object_diff.py [--objects N] [--changed PERCENT]... [--runs N]

Every run is a process of its own, `commodore catalog diff`, so what it takes to start counts. The objects are of five
kinds, ten in a file; which of them change is the same in every run. Prints medians; the highest memory of all runs is
that of the whole process tree.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _measure import measuring, read_costs
from _tools import BenchError

PER_FILE, PER_INSTANCE = 10, 500
KINDS = ("Deployment", "ConfigMap", "Service", "Role", "Namespace")


def made_up(number: int, version: int) -> dict[str, Any]:
    """One object. With version 2 it is changed in a way that few others are."""
    kind = KINDS[number % len(KINDS)]
    own = number if version > 1 else 0
    name, namespace = f"{kind.lower()}-{number}", f"ns-{number % 37}"
    metadata = {"name": name, "namespace": namespace, "labels": {"app": name, "helm.sh/chart": f"c-{version}"}}
    if kind == "Deployment":
        env = [{"name": f"E{index}", "value": str(index * version)} for index in range(5)]
        arguments = [f"--level={version}", "--quiet"]
        image = f"registry.example.com/app-{number % 50}:{version}.{own % 3}"
        pod = {"containers": [{"name": "c", "image": image, "args": arguments, "env": env}]}
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        spec = {"replicas": version, "selector": {"matchLabels": {"app": name}}, "template": template}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind == "ConfigMap":
        document = "".join(f"key{index}: {index * version + own}\n" for index in range(10))
        lines = "".join(f"line {index} {own if index % 3 == 0 else 0}\n" for index in range(20))
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": {"a.yaml": document, "a.txt": lines}}
    if kind == "Service":
        spec = {"ports": [{"port": 80, "targetPort": 8080 + own}], "selector": {"app": name}}
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind == "Role":
        verbs = ["get", "delete"] if version > 1 else ["get"]
        rules = [{"apiGroups": [""], "resources": ["pods", f"r{number}"], "verbs": verbs}]
        return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": {"v": f"{version}-{own}"}}}


def write_catalog(folder: Path, objects: int, changed: frozenset[int]) -> None:
    for start in range(0, objects, PER_FILE):
        file = folder / "manifests" / f"i{start // PER_INSTANCE}" / f"{start}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        numbers = range(start, min(objects, start + PER_FILE))
        texts = [json.dumps(made_up(number, 2 if number in changed else 1), indent=1) for number in numbers]
        file.write_text("\n---\n".join(texts) + "\n", encoding="utf-8")


def join(folder: Path) -> str:
    """All manifests of a folder as one file; its path."""
    joined = folder.with_suffix(".yaml")
    joined.write_text("---\n" + "\n---\n".join(path.read_text() for path in sorted(folder.rglob("*.yaml"))))
    return str(joined)


def measure(name: str, command: Sequence[str], runs: int, folder: Path) -> None:
    """Run a command some times, and print what that took. Exit code 1 says that something differs."""
    record = folder / "costs"
    record.unlink(missing_ok=True)
    for _ in range(runs):
        subprocess.run(measuring(command, record), stdout=subprocess.DEVNULL, check=False)
    costs = read_costs(record)
    if wrong := [cost.code for cost in costs if cost.code not in (0, 1)]:
        raise BenchError(f"{name} ended with exit code {wrong[0]}")
    wall, cpu = (statistics.median(getattr(cost, what) for cost in costs) for what in ("wall", "cpu"))
    memory = max(cost.pss for cost in costs) / (1 << 20)
    print(f"  {name:<32} {wall:8.2f} s {cpu:8.2f} s CPU {memory:8.0f} MiB   load {costs[0].load:.1f}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--changed", type=float, action="append", help="percent of the objects; default 1 and 100")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(arguments)
    program = shutil.which("commodore", path=str(Path(sys.executable).parent)) or "commodore"
    with tempfile.TemporaryDirectory(prefix="object-diff-") as place:
        folder = Path(place)
        write_catalog(folder / "old", options.objects, frozenset())
        for percent in options.changed or (1.0, 100.0):
            count = round(options.objects * percent / 100)
            changed = frozenset(random.Random(7).sample(range(options.objects), count))
            new = folder / f"new-{percent}"
            write_catalog(new, options.objects, changed)
            print(f"{options.objects} objects, {count} changed, median of {options.runs}:")
            ours = [program, "catalog", "diff", "--base", str(folder / "old"), "--target", str(new)]
            for form in ("text", "json", "markdown", "html"):
                measure(f"catalog diff -o {form}", [*ours, "-o", form], options.runs, folder)
            measure("diff -r", ["diff", "-r", str(folder / "old"), str(new)], options.runs, folder)
            if dyff := shutil.which("dyff"):
                files = [join(item) for item in (folder / "old", new)]
                measure("dyff between", [dyff, "between", *files], options.runs, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
