"""Which Applications and settings a tree holds."""

from __future__ import annotations

from commodore.argocd.discovery.own import own_repositories
from commodore.argocd.discovery.scan import Discovered, discover
from commodore.argocd.discovery.select import select

__all__ = ["Discovered", "discover", "own_repositories", "select"]
