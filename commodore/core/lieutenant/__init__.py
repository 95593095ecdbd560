"""Who the cluster is: the Lieutenant API, its objects, its tokens, and the file that stands in for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.lieutenant.api_url import normalise_api_url
    from commodore.core.lieutenant.client import LOGIN_HINT, LieutenantClient
    from commodore.core.lieutenant.cluster_file import (
        OWNERS,
        ClusterFileContent,
        list_cluster_file,
        load_cluster_file,
        read_cluster_file,
        where_set,
    )
    from commodore.core.lieutenant.dynamic_facts import parse_dynamic_facts
    from commodore.core.lieutenant.listing import ListFormat, render_clusters
    from commodore.core.lieutenant.load import load_cluster
    from commodore.core.lieutenant.models import Cluster, Tenant, parse_cluster
    from commodore.core.lieutenant.sources import ClusterFile, ClusterSource, LieutenantApi
    from commodore.core.lieutenant.token_store import TokenStore
    from commodore.core.lieutenant.tokens import HeldToken, given_token, held_token, resolve_token

__getattr__ = lazy_exports(
    __name__,
    {
        "api_url": ("normalise_api_url",),
        "client": ("LOGIN_HINT", "LieutenantClient"),
        "cluster_file": (
            "OWNERS",
            "ClusterFileContent",
            "list_cluster_file",
            "load_cluster_file",
            "read_cluster_file",
            "where_set",
        ),
        "dynamic_facts": ("parse_dynamic_facts",),
        "listing": ("ListFormat", "render_clusters"),
        "load": ("load_cluster",),
        "models": ("Cluster", "Tenant", "parse_cluster"),
        "sources": ("ClusterFile", "ClusterSource", "LieutenantApi"),
        "token_store": ("TokenStore",),
        "tokens": ("HeldToken", "given_token", "held_token", "resolve_token"),
    },
)
__all__ = [
    "Cluster",
    "ClusterFile",
    "ClusterFileContent",
    "ClusterSource",
    "HeldToken",
    "LOGIN_HINT",
    "LieutenantApi",
    "LieutenantClient",
    "ListFormat",
    "OWNERS",
    "Tenant",
    "TokenStore",
    "given_token",
    "held_token",
    "list_cluster_file",
    "load_cluster",
    "load_cluster_file",
    "normalise_api_url",
    "parse_cluster",
    "parse_dynamic_facts",
    "read_cluster_file",
    "render_clusters",
    "resolve_token",
    "where_set",
]
