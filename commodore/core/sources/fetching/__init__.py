"""Caches of fetched content: charts, folders of commits, downloads. See `archives` and `web`, too."""

from __future__ import annotations

from commodore.core.sources.fetching.dependency_cache import CacheKey, DependencyCache, chart_key, commit_key
from commodore.core.sources.fetching.downloads import Downloads
from commodore.core.sources.fetching.remote_dependencies import RemoteDependencies, object_name

__all__ = ["CacheKey", "DependencyCache", "Downloads", "RemoteDependencies", "chart_key", "commit_key", "object_name"]
