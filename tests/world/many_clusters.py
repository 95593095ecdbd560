"""Several clusters of one tenant in real repositories: what `ClusterWorld` is for one cluster.

world = FleetWorld(tmp_path, 3)
report = world.run("--push")
assert world.files("c-1")["manifests/app/config.yaml"]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from commodore.base.context import Context
from commodore.base.events import Event
from commodore.base.files.workspace import Workspace
from commodore.base.limits import Limits
from commodore.catalog.pipeline import CatalogCompile
from commodore.catalog.stages import CompileOptions
from commodore.clusters import FleetCompile, FleetReport, FleetSource, Wave, compile_fleet, read_cluster_files
from tests.world import lieutenant
from tests.world.cluster import ClusterWorld, Result, Running
from tests.world.repos import git

Ask = Callable[[Wave, FleetReport], bool]
LIMITS = Limits(fleet_pauses=(0.0,))


class FleetWorld:
    """Clusters `c-1`, `c-2` and so on of tenant `t-one`, each with a ConfigMap that names it.

    Attributes:
        world: the first cluster, with the repositories that all have in common.
        facts: further facts by cluster.
        events: what was announced by runs in this process.
    """

    def __init__(self, root: Path, count: int) -> None:
        self.root = root
        self.names = [f"c-{number}" for number in range(1, count + 1)]
        self.world = ClusterWorld(root, name=self.names[0])
        self.world.component("app", data={"cluster": "${cluster:name}", "value": "1"})
        self.catalogs = {name: self.world.git.remote(f"catalog-{name}") for name in self.names}
        self.facts: dict[str, dict[str, Any]] = {}
        self.events: list[Event] = []
        self.world.tenant_config.commit({f"{name}.yml": "" for name in self.names})

    def change(self, data: Mapping[str, str], cluster: str | None = None) -> None:
        """Give the ConfigMap of all clusters, or of one, other data."""
        text = yaml.safe_dump({"parameters": {"app": {"data": dict(data)}}})
        names = self.names if cluster is None else [cluster]
        self.world.tenant_config.commit({f"{name}.yml": text for name in names})

    def cluster_file(self) -> Path:
        """The file with all clusters."""
        clusters = []
        for name in self.names:
            made = lieutenant.cluster(name, "t-one", gitRepo={"url": self.catalogs[name].url})
            clusters.append({**made, "facts": {**made["facts"], **self.facts.get(name, {})}})
        path = self.root / "clusters.json"
        path.write_text(json.dumps({"clusters": clusters, "tenant": self.world.tenant_object()}))
        return path

    def request(self, *waves: Wave, push: bool = True, **options: Any) -> FleetCompile:
        """Everything that a run is to do."""
        request = CatalogCompile("", Workspace.at(self.root / "work"), push=push, options=CompileOptions(processes=1))
        expected = FleetCompile(request, **{"workers": 2, "retries": 0, **options})
        return replace(expected, waves=waves) if waves else expected

    def run(self, *waves: Wave, push: bool = True, ask: Ask = lambda wave, report: True, **options: Any) -> FleetReport:
        """Compile in this process."""
        source = read_cluster_files([self.cluster_file()], {}, Context(self.events.append, LIMITS))
        return self.run_with(source, *waves, push=push, ask=ask, **options)

    def run_with(
        self, source: FleetSource, *waves: Wave, push: bool = True, ask: Ask = lambda wave, report: True, **options: Any
    ) -> FleetReport:
        """Compile in this process the clusters of another source."""
        self.world.publish()
        context = Context(self.events.append, LIMITS)
        return compile_fleet(self.request(*waves, push=push, **options), source, ask, context)

    def command(self, *arguments: str) -> list[str]:
        """The command line of `fleet compile`, without the program."""
        words = ["-d", str(self.root / "work"), "--log-format", "json", "fleet", "compile"]
        return [*words, "--cluster-file", str(self.cluster_file()), "--processes", "1", *arguments]

    def cli(self, *arguments: str) -> Result:
        """Compile by the real program."""
        self.world.publish()
        return self.world.run(*self.command(*arguments))

    def start(self, *arguments: str) -> Running:
        """Begin to compile by the real program."""
        self.world.publish()
        return Running(self.command(*arguments), self.root, {})

    def single(self, name: str) -> dict[str, str]:
        """The manifests and references of a cluster as `catalog compile` makes them, in a folder of its own."""
        work = self.root / f"single-{name}"
        source = ["--cluster-file", str(self.cluster_file()), "--processes", "1"]
        done = self.world.run("-d", str(work), "catalog", "compile", name, *source)
        assert done.code == 0, done.stderr
        return {
            str(path.relative_to(work / "catalog")): path.read_text(encoding="utf-8").removesuffix("\n")
            for path in sorted((work / "catalog").rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }

    def files(self, name: str) -> dict[str, str]:
        """The pushed catalog of a cluster."""
        catalog = self.catalogs[name]
        return catalog.files() if catalog.sha(missing="") else {}

    def commits(self, name: str) -> int:
        """The number of commits were pushed for a cluster, without the empty initial one."""
        catalog = self.catalogs[name]
        if not catalog.sha(missing=""):
            return 0
        return int(git(catalog.path, "rev-list", "--count", catalog.branch)) - 1
