"""The objects of Argo CD as written, such as Applications and clusters. Reading them checks only types."""

from __future__ import annotations

from commodore.argocd.model.cluster import IN_CLUSTER, IN_CLUSTER_SERVER, Cluster
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.repository import KnownRepository

__all__ = ["Cluster", "Fields", "IN_CLUSTER", "IN_CLUSTER_SERVER", "KnownRepository"]
