"""A synthetic set-up on disk: its repositories and charts, and how git and helm find them there."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _loopback import Handler, serve

from _synthetic.charts import write_chart, write_index
from _synthetic.components import GIT_URL, VERSION, component_files, manifests_files
from _synthetic.hierarchy import cluster_class, component_padding, global_files, tenant_files
from _synthetic.plan import TENANT, Plan
from _synthetic.repositories import add_commit, create_repository

_SSH_URL = "ssh://git@git.example.com"
# The part of the repositories that a run changes: everybody who compiles has a copy of it.
_CHANGING = ("catalogs", "tenants")


@dataclass(frozen=True, slots=True)
class Setup:
    """A set-up on disk. `repositories` and `charts` are folders."""

    plan: Plan
    repositories: Path
    charts: Path

    def clusters(self) -> list[dict[str, Any]]:
        """The clusters as an API has them."""
        return [
            {
                "id": cluster.id,
                "displayName": cluster.id.title(),
                "tenant": TENANT,
                "facts": dict(cluster.facts),
                "gitRepo": {"url": f"{_SSH_URL}/catalogs/{cluster.id}.git"},
            }
            for cluster in self.plan.clusters
        ]

    def tenant(self) -> dict[str, Any]:
        """The tenant as an API has it."""
        return {
            "id": TENANT,
            "displayName": "Bench",
            "gitRepo": {"url": f"{_SSH_URL}/tenants/{TENANT}.git"},
            "globalGitRepoURL": f"{GIT_URL}/global-defaults.git",
        }

    def copy_changing(self, folder: Path) -> str:
        """Copy the repositories that a run changes into `folder`; gives the lines that git's configuration needs."""
        for part in _CHANGING:
            shutil.copytree(self.repositories / part, folder / part)
        places = {"": self.repositories} | {f"{part}/": folder / part for part in _CHANGING}
        # With file:// git talks to a server of its own, as it does for a remote repository.
        return "".join(
            f'[url "file://{place}/"]\n\tinsteadOf = {GIT_URL}/{prefix}\n\tinsteadOf = {_SSH_URL}/{prefix}\n'
            for prefix, place in places.items()
        )


def generate(plan: Plan, folder: Path) -> Setup:
    """Write everything of a plan below an empty folder."""
    repositories, charts = folder / "repositories", folder / "charts"
    charts.mkdir(parents=True)
    padding = component_padding(plan)
    create_repository(repositories / "global-defaults.git", global_files(plan))
    create_repository(repositories / "tenants" / f"{TENANT}.git", tenant_files(plan))
    for cluster in plan.clusters:
        create_repository(repositories / "catalogs" / f"{cluster.id}.git", {}, branch="master")
    index = []
    for component in plan.components:
        name = f"{component.name}.git"
        create_repository(repositories / "components" / name, component_files(component, padding), tag=VERSION)
        if component.kind == "helm":
            index.append(write_chart(component, charts))
        if component.kind == "kustomize":
            create_repository(repositories / "manifests" / name, manifests_files(component), tag=VERSION)
    write_index(index, charts)
    return Setup(plan, repositories, charts)


def change_parameter(plan: Plan, folder: Path, value: int) -> None:
    """Commit another value of one parameter of one component of the first cluster, in the copy in `folder`."""
    cluster = plan.clusters[0]
    content = cluster_class(plan, cluster, changed=value)
    add_commit(folder / "tenants" / f"{TENANT}.git", {f"{cluster.id}.yml": content})


def generate_classes(plan: Plan, generation: str) -> dict[str, str]:
    """Files below `inventory/classes` in which a parameter that every instance reads has another value."""
    common = tenant_files(plan, generation=generation)["common.yml"]
    return {f"{TENANT}/common.yml": common}


@contextlib.contextmanager
def serve_charts(charts: Path) -> Iterator[Mapping[str, str]]:
    """Serve the charts until the end of the block; gives what the environment needs for it.

    The server is a proxy that has every file under any host's name: so the charts' address, and all that is made from
    it, does not depend on a port.
    """
    direct = "127.0.0.1,localhost"
    with serve(_handler(charts)) as proxy:
        yield {"HTTP_PROXY": proxy, "http_proxy": proxy, "NO_PROXY": direct, "no_proxy": direct}


def _handler(charts: Path) -> type[Handler]:
    contents = {path.name: path.read_bytes() for path in charts.iterdir()}

    class ChartHandler(Handler):
        def do_GET(self) -> None:  # noqa: N802 - the name that http.server asks for
            content = contents.get(urlsplit(self.path).path.lstrip("/"))
            self.send(404 if content is None else 200, content or b"")

    return ChartHandler
