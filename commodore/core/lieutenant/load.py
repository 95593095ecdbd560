"""Stage 1 of a compile: who the cluster is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.names import RESERVED_CLASSES, check_name
from commodore.core.lieutenant.models import Cluster, parse_cluster


class Directory(Protocol):
    """Gives the objects of clusters and tenants, as `LieutenantClient` does."""

    @property
    def api_url(self) -> str:
        """Where they are from."""

    def cluster(self, cluster_id: str) -> dict[str, Any]:
        """One cluster's object."""

    def tenant(self, tenant_id: str) -> dict[str, Any]:
        """One tenant's object."""


def load_cluster(
    client: Directory, cluster_id: str, fallback_dynamic_facts: Mapping[str, Any], context: Context
) -> Cluster:
    """Ask the API for a cluster, then for its tenant, and check both.

    Raises:
        CommodoreError: what `LieutenantClient` and `parse_cluster` raise.
        EnvironmentFault: the API gave another cluster than the one asked for.
    """
    cluster = client.cluster(cluster_id)
    if cluster.get("id", cluster_id) != cluster_id:
        raise EnvironmentFault(
            "CMD-API-025",
            f"{client.api_url} returned cluster {cluster['id']!r} instead of {cluster_id!r}",
            hint="something between here and the API answers wrongly, perhaps a cache",
        )
    tenant = client.tenant(cluster["tenant"]) if _has_tenant(cluster) else None
    return parse_cluster(cluster, tenant, fallback_dynamic_facts, context, source=client.api_url)


def _has_tenant(cluster: Mapping[str, Any]) -> bool:
    """Whether the reference is sound; if not, `parse_cluster` says why, together with all else that it finds."""
    try:
        check_name(cluster.get("tenant"), "tenant", reserved=RESERVED_CLASSES)
    except InputError:
        return False
    return True
