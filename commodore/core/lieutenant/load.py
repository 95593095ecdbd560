"""Stage 1 of a compile: read the cluster and its tenant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.names import RESERVED_CLASSES, check_name
from commodore.core.lieutenant.models import Cluster, parse_cluster


class ClusterDirectory(Protocol):
    """A source of cluster and tenant objects, like `LieutenantClient`."""

    @property
    def api_url(self) -> str:
        """The URL of the source."""

    def cluster(self, cluster_id: str) -> dict[str, Any]:
        """Return the object of a cluster."""

    def tenant(self, tenant_id: str) -> dict[str, Any]:
        """Return the object of a tenant."""


def load_cluster(
    client: ClusterDirectory, cluster_id: str, fallback_dynamic_facts: Mapping[str, Any], context: Context
) -> Cluster:
    """Read a cluster, then its tenant, from the API, and check both.

    Raises:
        CommodoreError: errors of `LieutenantClient` and `parse_cluster`.
        EnvironmentFault: the API returned another cluster than the requested one.
    """
    cluster = client.cluster(cluster_id)
    if cluster.get("id", cluster_id) != cluster_id:
        raise EnvironmentFault(
            "CMD-API-025",
            f"{client.api_url} returned cluster {cluster['id']!r} instead of {cluster_id!r}",
            hint="check caches and proxies between this machine and the API",
        )
    tenant = client.tenant(cluster["tenant"]) if _has_tenant(cluster) else None
    return parse_cluster(cluster, tenant, fallback_dynamic_facts, context, source=client.api_url)


def _has_tenant(cluster: Mapping[str, Any]) -> bool:
    """Check if the reference is valid; if not, `parse_cluster` reports it, together with all other errors."""
    try:
        check_name(cluster.get("tenant"), "tenant", reserved=RESERVED_CLASSES)
    except InputError:
        return False
    return True
