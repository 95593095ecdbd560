"""Fleets to compile: of real components, by the script `world` of a folder outside of this repository, or made up."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _synthetic import Kind, Size, generate, make_plan
from _synthetic.plan import MIX
from _synthetic.repositories import add_commit
from _synthetic.setup import serve_charts, tenant_files
from _tools import BenchError, home_environment

# `world` as a module: its set-up, made below a folder (1) with so many clusters (2), or its tenant's parameter moved.
_MAKE = """
import json, runpy, sys
world = runpy.run_path("world")["Setup"](sys.argv[1], int(sys.argv[2]), 20)
if len(sys.argv) == 3:
    world.make()
else:
    world.tenant(int(sys.argv[3]))
print(json.dumps([world.cluster(name) for name in world.clusters]))
"""
Mix = Mapping[Kind, int]
_REAL_TENANT = {
    "id": "t-real",
    "displayName": "Real Tenant",
    "gitRepo": {"url": "ssh://git@git.example.com/syn/tenant-config.git"},
    "globalGitRepoURL": "https://git.example.com/syn/global-defaults.git",
    "globalGitRepoRevision": "master",
}


@dataclass(frozen=True, slots=True)
class Fleet:
    """Clusters that can be compiled over and over.

    Attributes:
        folder: where everything lies.
        clusters: their ids.
        catalogs: the bare repositories, by cluster.
        environment: of the program that compiles them.
        change: gives a parameter that all clusters have another value, by number.
    """

    folder: Path
    clusters: Sequence[str]
    catalogs: Mapping[str, Path]
    environment: dict[str, str]
    change: Callable[[int], object]

    @property
    def file(self) -> Path:
        """The cluster file."""
        return self.folder / "clusters.json"

    def reset(self) -> None:
        """Make all catalogs empty again."""
        for catalog in self.catalogs.values():
            shutil.rmtree(catalog)
            subprocess.run(["git", "init", "-q", "--bare", "-b", "master", catalog], check=True)

    def trees(self) -> dict[str, str]:
        """The tree that each catalog has at its remote; without the catalogs that are empty."""
        trees = {name: self._ask(name, "rev-parse", "-q", "--verify", "master^{tree}") for name in self.clusters}
        return {name: tree for name, tree in trees.items() if tree}

    def commits(self, cluster: str) -> int:
        """The number of commits with a tree of their own: not the empty one that begins a catalog."""
        trees = self._ask(cluster, "log", "--format=%T", "master").split()
        return len(trees) - trees.count("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

    def _ask(self, cluster: str, *words: str) -> str:
        command = ["git", "--git-dir", self.catalogs[cluster], *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def add_fleet_options(parser: argparse.ArgumentParser, instances: int) -> None:
    """The options that say which fleet.

    Args:
        instances: of each made-up cluster, by default.
    """
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="the folder with `world`; otherwise made up")
    parser.add_argument("--clusters", type=int, default=20, metavar="N")
    parser.add_argument("--instances", type=int, default=instances, metavar="N", help="of each made-up cluster")
    parser.add_argument("--inventory", type=int, default=50, metavar="KIB", help="parameters of a made-up target")
    parser.add_argument("--plain", action="store_true", help="no helm and kustomize in made-up clusters")


def open_fleet(arguments: argparse.Namespace, folder: Path) -> AbstractContextManager[Fleet]:
    """The fleet that the options name.

    Raises:
        BenchError: on entry, the set-up cannot be made.
    """
    if arguments.real:
        return real_fleet(arguments.real, arguments.clusters, folder)
    mix: Mix = {"jsonnet": 1} if arguments.plain else MIX
    return synthetic_fleet(arguments.clusters, arguments.instances, arguments.inventory << 10, folder, mix)


@contextlib.contextmanager
def real_fleet(real: Path, clusters: int, folder: Path) -> Iterator[Fleet]:
    """Clusters of real components, by the scripts in the folder `real`.

    Raises:
        BenchError: the set-up cannot be made.
    """
    world = folder / "world"

    def script(*arguments: str) -> str:
        return _in_environment(real, [sys.executable, "-c", _MAKE, str(world), str(clusters), *arguments])

    folder.mkdir(parents=True)
    made = json.loads(script())
    lines = _in_environment(real, ["env", "-0"]).split("\0")
    given = dict(line.split("=", 1) for line in lines if "=" in line)
    environment = given | home_environment(folder / "home", PATH=given["PATH"])
    shutil.copy(world / "home" / ".gitconfig", folder / "home" / ".gitconfig")
    names = [item["id"] for item in made]
    catalogs = {name: world / "git" / "syn" / f"catalog-{name}.git" for name in names}
    yield _fleet(folder, made, _REAL_TENANT, catalogs, environment, lambda number: script(str(number)))


@contextlib.contextmanager
def synthetic_fleet(clusters: int, instances: int, inventory: int, folder: Path, mix: Mix = MIX) -> Iterator[Fleet]:
    """Made-up clusters; `inventory` is the size of a target's parameters in bytes."""
    setup = generate(make_plan(Size(instances, inventory, dict(mix), clusters, 1)), folder / "setup")
    environment = home_environment(folder / "home")
    with (folder / "home" / ".gitconfig").open("a") as file:
        file.write(setup.copy_changing(folder / "repositories"))
    repositories = folder / "repositories"

    def change(number: int) -> None:
        content = tenant_files(setup.plan, generation=f"generation {number}")["common.yml"]
        [tenant] = (repositories / "tenants").iterdir()
        add_commit(tenant, {"common.yml": content})

    made = setup.clusters()
    catalogs = {item["id"]: repositories / "catalogs" / f"{item['id']}.git" for item in made}
    with serve_charts(setup.charts) as proxy:
        yield _fleet(folder, made, setup.tenant(), catalogs, environment | proxy, change)


def _fleet(
    folder: Path,
    clusters: Sequence[Mapping[str, Any]],
    tenant: Mapping[str, Any],
    catalogs: Mapping[str, Path],
    environment: dict[str, str],
    change: Callable[[int], object],
) -> Fleet:
    fleet = Fleet(folder, [cluster["id"] for cluster in clusters], catalogs, environment, change)
    fleet.file.write_text(json.dumps({"clusters": list(clusters), "tenant": tenant}))
    return fleet


def _in_environment(real: Path, command: Sequence[str]) -> str:
    if not (real / "world").is_file():
        raise BenchError(f"there is no script {real / 'world'}")
    done = subprocess.run(
        ["bash", "-c", '. ./env.sh; exec "$0" "$@"', *command],
        cwd=real,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise BenchError(f"{real / 'world'} failed:\n{done.stderr[-2000:]}")
    return done.stdout
