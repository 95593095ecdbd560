"""All stores of the cache, for those who look after it; see `commodore.caches.maintenance`."""

from __future__ import annotations

from commodore.caches import (
    dependency_cache,
    library_cache,
    repository_cache,
    result_cache,
    template_cache,
    template_lock,
    tree_cache,
)
from commodore.caches.entry_store import Store
from commodore.context import Context
from commodore.dependencies.bundle import ExportCache
from commodore.fetching import DependencyCache, Downloads
from commodore.git import CloneStore, CommitStore, CommitTrees, Mirrors
from commodore.results import ResultStore


def stores(context: Context) -> tuple[Store, ...]:
    """All parts that may be removed at any time. Installed tools and tokens are none of them."""
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
