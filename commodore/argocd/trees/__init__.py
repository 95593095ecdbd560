"""The files under analysis: folders, and commits written to folders."""

from __future__ import annotations

from commodore.argocd.trees.commit import commit_tree, merge_base, repository_of, resolve
from commodore.argocd.trees.ignored import covers
from commodore.argocd.trees.kustomizations import (
    KUSTOMIZATIONS,
    PulledChart,
    check_sources,
    files_of_kustomization,
    parts_of_kustomization,
)
from commodore.argocd.trees.parsed import ParsedFiles
from commodore.argocd.trees.paths import check_inside, folder_of
from commodore.argocd.trees.revisions import OwnRevisions, SelfRevisions, own_revisions
from commodore.argocd.trees.tree import Tree, folder_tree, is_git

__all__ = [
    "KUSTOMIZATIONS",
    "OwnRevisions",
    "ParsedFiles",
    "PulledChart",
    "SelfRevisions",
    "Tree",
    "check_inside",
    "check_sources",
    "commit_tree",
    "covers",
    "files_of_kustomization",
    "folder_of",
    "folder_tree",
    "is_git",
    "merge_base",
    "own_revisions",
    "parts_of_kustomization",
    "repository_of",
    "resolve",
]
