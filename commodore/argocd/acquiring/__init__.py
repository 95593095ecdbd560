"""Fetching the inputs of sources: mapped folders, the repository cache, charts, and providers of the caller."""

from __future__ import annotations

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
from commodore.argocd.acquiring.remote_files import RemoteFiles
from commodore.argocd.acquiring.repo_map import MappedRepository, RepoMap, own_urls, parse_repo_map, repository_identity
from commodore.argocd.acquiring.repositories import Repositories

__all__ = [
    "ArtefactProvider",
    "ChartProvider",
    "Charts",
    "Clock",
    "Credentials",
    "GitProvider",
    "MappedRepository",
    "PluginRenderer",
    "PluginSource",
    "Providers",
    "RemoteFiles",
    "RemoteProvider",
    "RepoMap",
    "Repositories",
    "own_urls",
    "parse_repo_map",
    "read_credentials",
    "repository_identity",
]
