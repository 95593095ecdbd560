"""Where the inputs of sources come from: mapped folders, the cache of repositories, charts by HTTP, the caller."""

from __future__ import annotations

from commodore.argocd.acquiring.charts import Charts
from commodore.argocd.acquiring.providers import (
    ChartProvider,
    GitProvider,
    PluginRenderer,
    PluginSource,
    Providers,
    RemoteProvider,
)
from commodore.argocd.acquiring.repo_map import Mapped, RepoMap, own_urls, parse_repo_map, repository_identity
from commodore.argocd.acquiring.repositories import Repositories
from commodore.argocd.acquiring.web import fetch

__all__ = [
    "ChartProvider",
    "Charts",
    "GitProvider",
    "Mapped",
    "PluginRenderer",
    "PluginSource",
    "Providers",
    "RemoteProvider",
    "RepoMap",
    "Repositories",
    "fetch",
    "own_urls",
    "parse_repo_map",
    "repository_identity",
]
