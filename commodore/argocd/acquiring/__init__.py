"""Where the inputs of sources come from: mapped folders, the cache of repositories, charts by HTTP, the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.argocd.acquiring.charts import Charts
from commodore.argocd.acquiring.credentials import Credentials
from commodore.argocd.acquiring.credentials_file import read_credentials
from commodore.argocd.acquiring.providers import (
    ArtefactProvider,
    ChartProvider,
    Clock,
    GitProvider,
    PluginRenderer,
    PluginSource,
    Providers,
    RemoteProvider,
)
from commodore.argocd.acquiring.repo_map import Mapped, RepoMap, own_urls, parse_repo_map, repository_identity
from commodore.argocd.acquiring.repositories import Repositories
from commodore.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.argocd.acquiring.web import fetch

# What talks to servers takes a while to load.
__getattr__ = lazy_exports(__name__, {"web": ("fetch",)})

__all__ = [
    "ArtefactProvider",
    "ChartProvider",
    "Charts",
    "Clock",
    "Credentials",
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
    "read_credentials",
    "repository_identity",
]
