"""Who the cluster is: the Lieutenant API, its objects, its tokens, and the file that stands in for it."""

from __future__ import annotations

from commodore.lieutenant.api_url import normalise_api_url
from commodore.lieutenant.client import LieutenantClient
from commodore.lieutenant.cluster_file import list_cluster_file, load_cluster_file
from commodore.lieutenant.dynamic_facts import parse_dynamic_facts
from commodore.lieutenant.listing import ListFormat, render_clusters
from commodore.lieutenant.load import load_cluster
from commodore.lieutenant.models import Cluster, Tenant, parse_cluster
from commodore.lieutenant.token_store import TokenStore
from commodore.lieutenant.tokens import given_token, resolve_token

__all__ = [
    "Cluster",
    "LieutenantClient",
    "ListFormat",
    "Tenant",
    "TokenStore",
    "given_token",
    "list_cluster_file",
    "load_cluster",
    "load_cluster_file",
    "normalise_api_url",
    "parse_cluster",
    "parse_dynamic_facts",
    "render_clusters",
    "resolve_token",
]
