"""Clusters and tenants: the Lieutenant API, its objects and tokens, and the cluster file that replaces it."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.lieutenant.api_url import normalise_api_url as normalise_api_url
    from commodore.core.lieutenant.client import LOGIN_HINT as LOGIN_HINT
    from commodore.core.lieutenant.client import LieutenantClient as LieutenantClient
    from commodore.core.lieutenant.cluster_file import OWNERS as OWNERS
    from commodore.core.lieutenant.cluster_file import ClusterFileContent as ClusterFileContent
    from commodore.core.lieutenant.cluster_file import list_cluster_file as list_cluster_file
    from commodore.core.lieutenant.cluster_file import load_cluster_file as load_cluster_file
    from commodore.core.lieutenant.cluster_file import read_cluster_file as read_cluster_file
    from commodore.core.lieutenant.cluster_file import where_set as where_set
    from commodore.core.lieutenant.dynamic_facts import parse_dynamic_facts as parse_dynamic_facts
    from commodore.core.lieutenant.listing import ListFormat as ListFormat
    from commodore.core.lieutenant.listing import render_clusters as render_clusters
    from commodore.core.lieutenant.load import load_cluster as load_cluster
    from commodore.core.lieutenant.models import Cluster as Cluster
    from commodore.core.lieutenant.models import Tenant as Tenant
    from commodore.core.lieutenant.models import parse_cluster as parse_cluster
    from commodore.core.lieutenant.sources import ClusterFile as ClusterFile
    from commodore.core.lieutenant.sources import ClusterSource as ClusterSource
    from commodore.core.lieutenant.sources import LieutenantApi as LieutenantApi
    from commodore.core.lieutenant.token_store import TokenStore as TokenStore
    from commodore.core.lieutenant.tokens import AvailableToken as AvailableToken
    from commodore.core.lieutenant.tokens import available_token as available_token
    from commodore.core.lieutenant.tokens import given_token as given_token
    from commodore.core.lieutenant.tokens import resolve_token as resolve_token
else:
    __getattr__ = lazy_exports(__name__)
