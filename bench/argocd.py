"""List, render and compare Applications of made-up repositories: time and memory, and a loop of helm and kustomize.

    python bench/argocd.py [--applications N,...] [--rendered N,...] [--changed N] [--runs N]
        [--repository FOLDER --url U]

Every run is a process of its own. Listed are repositories with a file per Application and two manifests each, and that
of --repository, if one is named, which is compared with its own HEAD, too; rendered are Applications of which half are
charts, half kustomizations. `cold` has an empty cache, `warm` that of the run before, `changed` the same after some
sources were changed, which `diff` compares with the commit before, as a folder and as a commit; the loop runs `helm
template` or `kustomize build` for each. Prints medians; memory is that of the whole process tree.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from _measure import measuring, read_costs
from _tools import BenchError

URL = "https://git.example.com/shop"
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app-{number}, namespace: argocd, labels: {{team: t{team}}}}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: ns-{number}}}
  source: {{repoURL: {url}, targetRevision: HEAD, path: src/{number}}}
  syncPolicy: {{automated: {{prune: true}}}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "nginx:{image}"}}]}}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def plain(root: Path, applications: int) -> Path:
    """A repository of three files per Application, none of which needs rendering to be listed."""
    for number in range(applications):
        text = APPLICATION.format(number=number, team=number % 7, url=URL)
        write(root / f"apps/g{number % 20}/app-{number}.yaml", text)
        write(root / f"src/{number}/deployment.yaml", DEPLOYMENT.format(image=number))
        write(root / f"src/{number}/service.yaml", SERVICE)
    return root


def sources(root: Path, applications: int) -> Path:
    """A repository whose Applications are charts and kustomizations in turn."""
    for number in range(applications):
        write(root / f"apps/app-{number}.yaml", APPLICATION.format(number=number, team=number % 7, url=URL))
        source = root / f"src/{number}"
        if number % 2:
            write(source / "kustomization.yaml", "resources: [deployment.yaml, service.yaml]\nnamePrefix: x-\n")
            write(source / "deployment.yaml", DEPLOYMENT.format(image=number))
            write(source / "service.yaml", SERVICE)
        else:
            write(source / "Chart.yaml", f"apiVersion: v2\nname: c{number}\nversion: 1.0.0\n")
            write(source / "values.yaml", f"image: {number}\n")
            write(source / "templates/deployment.yaml", DEPLOYMENT.format(image="{{ .Values.image }}"))
            write(source / "templates/service.yaml", SERVICE)
    return root


def change(root: Path, changed: int, version: int) -> None:
    """Change the sources of the first Applications in a way that they were not before."""
    for number in range(changed):
        file = root / f"src/{number}" / ("deployment.yaml" if number % 2 else "values.yaml")
        image = f"{number}.{version}"
        write(file, DEPLOYMENT.format(image=image) if number % 2 else f"image: '{image}'\n")


def commit(root: Path) -> None:
    """Make a commit of all files of a folder."""
    start = [] if (root / ".git").exists() else ["init -q -b main"]
    for words in (*start, "add .", "-c user.name=bench -c user.email=bench@example.com commit -q -m one"):
        subprocess.run(["git", *words.split()], cwd=root, check=True)


def commit_changes(root: Path, changed: int) -> None:
    """Make a second commit, in which Applications of `plain` have another image."""
    for number in range(changed):
        write(root / f"src/{number}/deployment.yaml", DEPLOYMENT.format(image=f"{number}.1"))
    commit(root)


class Bench:
    """Runs commands with a cache of their own.

    Args:
        folder: for the cache and the records.
    """

    def __init__(self, folder: Path, runs: int) -> None:
        self._cache = folder / "cache"
        self._record = folder / "costs"
        self._runs = runs

    def measure(
        self, name: str, command: Sequence[str], *, cold: bool = False, before: Callable[[int], None] | None = None
    ) -> None:
        """Run a command some times, and print what that took."""
        self._record.unlink(missing_ok=True)
        for number in range(self._runs):
            if cold:
                shutil.rmtree(self._cache, ignore_errors=True)
            if before is not None:
                before(number)
            environment = {**os.environ, "XDG_CACHE_HOME": str(self._cache)}
            called = measuring(command, self._record)
            subprocess.run(called, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False)
        costs = read_costs(self._record)
        wall, cpu = (statistics.median(getattr(cost, what) for cost in costs) for what in ("wall", "cpu"))
        memory = max(cost.pss for cost in costs) / (1 << 20)
        codes = ",".join(map(str, sorted({cost.code for cost in costs})))
        print(f"  {name:<34} {wall:8.2f} s {cpu:8.2f} s CPU {memory:6.0f} MiB  exit {codes}, load {costs[0].load:.1f}")


def loop(root: Path) -> list[str]:
    """Run the commands of a shell script in place of rendering."""
    text = (
        f"for d in {root}/src/*; do if [ -f $d/Chart.yaml ]; then helm template app $d --include-crds; "
        "else kustomize build $d; fi; done"
    )
    return ["sh", "-c", text]


def bench_listing(bench: Bench, argocd: Callable[..., list[str]], name: str, root: Path, url: str) -> None:
    """List the Applications of a repository."""
    command = argocd("apps", root, url)
    print(f"apps, {name}:")
    bench.measure("cold", command, cold=True)
    bench.measure("warm", command)


def bench_growth(bench: Bench, argocd: Callable[..., list[str]], root: Path, size: int, changed: int) -> None:
    """Compare two commits of a repository of plain folders."""
    commit(root)
    commit_changes(root, changed)
    command = argocd("diff", root, URL, "--base", "HEAD~1..HEAD", "-o", "json")
    print(f"diff of two commits, {size} Applications in plain folders, {changed} changed:")
    bench.measure("cold", command, cold=True)
    bench.measure("warm", command)


def bench_rendering(bench: Bench, argocd: Callable[..., list[str]], root: Path, size: int, changed: int) -> None:
    """Render a repository, and compare it with its commit after some sources were changed."""
    counter = itertools.count()

    def touch(number: int) -> None:
        del number
        change(root, changed, next(counter))

    command = argocd("render", root, URL)
    print(f"render, {size} Applications:")
    bench.measure("cold", command, cold=True)
    bench.measure("warm", command)
    bench.measure(f"{changed} changed", command, before=touch)
    bench.measure("loop of helm and kustomize", loop(root))
    print(f"diff, {size} Applications, {changed} changed:")
    command = argocd("diff", root, URL, "--base", "HEAD", "-o", "json")
    bench.measure("cold", command, cold=True, before=touch)
    bench.measure("warm", command, before=touch)
    command = argocd("diff", root, URL, "--base", "HEAD", "-o", "json", "--all")
    bench.measure("all rendered, cold", command, cold=True, before=touch)
    bench.measure("all rendered, warm", command, before=touch)
    commit(root)
    command = argocd("diff", root, URL, "--base", "HEAD~1..HEAD", "-o", "json")
    print(f"diff of two commits, {size} Applications, {changed} changed:")
    bench.measure("cold", command, cold=True)
    bench.measure("warm", command)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--applications", default="10,100,1000", help="sizes of the repositories that are listed")
    parser.add_argument("--rendered", default="300", help="sizes of the repositories that are rendered and compared")
    parser.add_argument("--changed", type=int, default=3, help="how many of their Applications change")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--repository", type=Path, help="a further repository that is listed and compared")
    parser.add_argument("--url", default=URL, help="its URL")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    options = parsed(arguments)
    program = shutil.which("commodore", path=str(Path(sys.executable).parent)) or "commodore"
    if not (shutil.which("helm") and shutil.which("kustomize")):
        raise BenchError("helm and kustomize must be on PATH")

    def argocd(what: str, root: Path, url: str, *more: str) -> list[str]:
        return [program, "argocd", what, "--path", str(root), "--self-url", url, "--offline", *more]

    with tempfile.TemporaryDirectory(prefix="argocd-") as place:
        folder = Path(place)
        bench = Bench(folder, options.runs)
        print(f"medians of {options.runs}")
        for size in filter(None, options.applications.split(",")):
            root = plain(folder / f"p{size}", int(size))
            bench_listing(bench, argocd, f"{size} Applications", root, URL)
            bench_growth(bench, argocd, root, int(size), options.changed)
        if options.repository:
            bench_listing(bench, argocd, options.repository.name, options.repository, options.url)
            command = argocd("diff", options.repository, options.url, "--base", "HEAD", "-o", "json", "--all")
            print(f"diff, {options.repository.name} with its own HEAD, all rendered:")
            bench.measure("cold", command, cold=True)
            bench.measure("warm", command)
        for size in filter(None, options.rendered.split(",")):
            root = sources(folder / f"r{size}", int(size))
            commit(root)
            bench_rendering(bench, argocd, root, int(size), options.changed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
