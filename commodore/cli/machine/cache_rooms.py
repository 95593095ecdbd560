"""All stores of the cache, for those who look after it; see `commodore.core.results.caches.maintenance`."""

from __future__ import annotations

from commodore.base.context import Context
from commodore.core.dependencies.bundle import ExportCache
from commodore.core.results.caches import (
    dependency_cache,
    library_cache,
    repository_cache,
    result_cache,
    template_cache,
    template_lock,
    tree_cache,
)
from commodore.core.results.caches.entry_store import Store
from commodore.core.results.result_store import ResultStore
from commodore.core.sources.fetching import DependencyCache, Downloads
from commodore.core.sources.git import CloneStore, CommitStore, CommitTrees, Mirrors


def stores(context: Context) -> tuple[Store, ...]:
    """All parts of the cache that may be removed at any time, which excludes installed tools and tokens."""
    dependencies, limits = dependency_cache(), context.limits
    return (
        ResultStore(result_cache(), limits),
        DependencyCache(dependencies, limits).store,
        Downloads(dependencies, limits),
        CommitStore("kustomize", dependencies / "kustomize", context),
        Mirrors(repository_cache(), context),
        ExportCache(library_cache() / "exports", context).store,
        CloneStore("templates", template_cache(), context, template_lock()),
        CommitTrees(tree_cache(), context),
    )
