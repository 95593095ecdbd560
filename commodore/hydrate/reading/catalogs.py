"""Compiled catalogs as sources of hydration."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.events import Warned
from commodore.base.files.workspace import Workspace
from commodore.base.names import check_name
from commodore.core.lieutenant import Cluster, ClusterSource


@dataclass(frozen=True, slots=True)
class Catalogs:
    """Compile the catalogs of clusters like `catalog compile`, without pushing.

    Args:
        root: a folder with a persistent working directory for each cluster.
        source: who knows the cluster of a working directory.
        processes: the number of render workers; 0 for one per CPU.
    """

    root: Path
    source: Callable[[Workspace], ClusterSource]
    context: Context
    processes: int = 0
    _one: threading.Lock = field(default_factory=threading.Lock)

    def cluster(self, name: str) -> Cluster:
        """Return the cluster with this id.

        Raises:
            CommodoreError: the cluster is unknown.
        """
        return self.source(self._workspace(name)).load(name, self.context)

    def objects(self, name: str, tenant_sha: str, global_sha: str, context: Context) -> list[dict[str, Any]]:
        """Return the objects of a cluster's catalog at commits of the tenant's and of the global configuration.

        Raises:
            CommodoreError: it cannot be compiled.
        """
        from commodore.catalog import CatalogCompile, CompileOptions, objects_of, read_folder, run_compile

        workspace = self._workspace(name)
        request = CatalogCompile(
            name,
            workspace,
            offline=context.offline,
            global_revision=global_sha or None,
            tenant_revision=tenant_sha,
            options=CompileOptions(processes=self.processes),
        )
        with self._one:  # a compile uses all CPUs by itself
            run_compile(request, self.source(workspace), lambda _: False, context)
            files = read_folder(workspace.manifests, context) if workspace.manifests.is_dir() else {}
        objects = [item.content for item in objects_of(files, {})]
        references = workspace.refs.is_dir() and any(workspace.refs.iterdir())
        if references or not all(isinstance(item, dict) for item in objects):
            what = "files for references" if references else "files that hold no objects"
            context.announce(
                Warned(
                    "CMD-HYD-038",
                    f"the catalog of {name} has {what}, which are not on hydrated branches",
                    hint="let the cluster take the catalog itself if it needs them",
                )
            )
        return [item for item in objects if isinstance(item, dict)]

    def _workspace(self, name: str) -> Workspace:
        return Workspace.at(self.root / check_name(name, "cluster"))
