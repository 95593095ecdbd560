"""The cache that all working directories share: its folders (`paths`), its stores (`entry_store`) and their
maintenance (`maintenance`).
"""

from __future__ import annotations

from commodore.core.results.caches.paths import (
    argocd_repository_cache,
    cache_folder,
    dependency_cache,
    library_cache,
    refused_write,
    repository_cache,
    result_cache,
    template_cache,
    template_lock,
    token_cache,
    tree_cache,
    usable,
)

__all__ = [
    "argocd_repository_cache",
    "cache_folder",
    "dependency_cache",
    "library_cache",
    "refused_write",
    "repository_cache",
    "result_cache",
    "template_cache",
    "template_lock",
    "token_cache",
    "tree_cache",
    "usable",
]
