"""Sources of clusters: the Lieutenant API, or cluster files. Each object is read once."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.core.lieutenant import (
    Cluster,
    ClusterFileContent,
    ClusterSource,
    LieutenantClient,
    load_cluster,
    read_cluster_file,
)

_AT_ONCE = 8  # concurrent requests to the API
_SUFFIXES = (".yml", ".yaml", ".json")


class FleetSource(ClusterSource, Protocol):
    """A source that can list its clusters."""

    def list(self, context: Context) -> Sequence[Mapping[str, Any]]:
        """Return the objects of all clusters.

        Raises:
            CommodoreError: they are unavailable.
        """


class ApiFleet:
    """The clusters of the Lieutenant API. Each tenant is requested once, and few clusters concurrently.

    Args:
        client: the client of the API, closed by its creator.
        dynamic_facts: facts for clusters that report none themselves.
    """

    def __init__(self, client: LieutenantClient, dynamic_facts: Mapping[str, Any]) -> None:
        self._client = client
        self._dynamic_facts = dynamic_facts
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._tenants: dict[str, Future[dict[str, Any]]] = {}
        self.api_url = client.api_url

    def list(self, context: Context) -> Sequence[Mapping[str, Any]]:
        return self._client.clusters()

    def load(self, cluster: str, context: Context) -> Cluster:
        return load_cluster(self, cluster, self._dynamic_facts, context)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        self._client.report_compile(cluster, dict(body))

    def cluster(self, cluster_id: str) -> dict[str, Any]:
        """Return a cluster's object."""
        with self._turns:
            return self._client.cluster(cluster_id)

    def tenant(self, tenant_id: str) -> dict[str, Any]:
        """Return a tenant's object; after an error, the next cluster requests it again."""
        with self._lock:
            known = self._tenants.get(tenant_id)
            mine = known is None or (known.done() and known.exception() is not None)
            answer: Future[dict[str, Any]] = Future() if known is None or mine else known
            self._tenants[tenant_id] = answer
        if mine:
            try:
                answer.set_result(self._client.tenant(tenant_id))
            except BaseException as error:
                answer.set_exception(error)
        return answer.result()


class FileFleet:
    """The clusters of cluster files; reports are dropped.

    Args:
        files: the content of the files.
        dynamic_facts: facts for clusters that have none in their file.

    Raises:
        InputError: CMD-FLT-102, two files hold the same cluster.
    """

    def __init__(self, files: Sequence[ClusterFileContent], dynamic_facts: Mapping[str, Any]) -> None:
        self._dynamic_facts = dynamic_facts
        self._places: dict[str, ClusterFileContent] = {}
        for content in files:
            for cluster in content.clusters:
                other = self._places.setdefault(cluster, content)
                if other is not content:
                    raise InputError(
                        "CMD-FLT-102",
                        f"there are two clusters {cluster!r}",
                        hint="remove one of them, or correct its id",
                        locations=[str(other.path), str(content.path)],
                    )

    def list(self, context: Context) -> Sequence[Mapping[str, Any]]:
        return [content.clusters[cluster] for cluster, content in self._places.items()]

    def load(self, cluster: str, context: Context) -> Cluster:
        return self._places[cluster].load(cluster, self._dynamic_facts, context)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Do nothing, without an API."""


def read_cluster_files(places: Sequence[Path], dynamic_facts: Mapping[str, Any], context: Context) -> FileFleet:
    """Read the clusters of files, and then of all YAML and JSON files in folders.

    Raises:
        EnvironmentFault: a file cannot be read.
        InputError: a file is malformed, or two hold the same cluster.
    """
    files = [place for place in places if not place.is_dir()]
    folders = [place for place in places if place.is_dir()]
    files += [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix in _SUFFIXES]
    return FileFleet([read_cluster_file(path, context) for path in files], dynamic_facts)
