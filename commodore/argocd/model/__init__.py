"""The objects of Argo CD as they are written: Applications, clusters. Reading them checks types, not sense."""

from __future__ import annotations

from commodore.argocd.model.cluster import IN_CLUSTER, IN_CLUSTER_SERVER, Cluster
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.repository import KnownRepository

__all__ = ["Cluster", "Fields", "IN_CLUSTER", "IN_CLUSTER_SERVER", "KnownRepository"]
