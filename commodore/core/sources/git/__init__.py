"""Git repositories: URL rules, bare clones, worktrees, commit and push."""

from __future__ import annotations

from commodore.base.context import GitRights
from commodore.core.sources.git._export import check_out_tree
from commodore.core.sources.git._recovery import recover
from commodore.core.sources.git._redirects import NOT_FOLLOWED
from commodore.core.sources.git._worktree_files import rejoin
from commodore.core.sources.git.bare_stores import CloneStore, CommitStore
from commodore.core.sources.git.changes import LocalChanges, inspect
from commodore.core.sources.git.commit_trees import CommitTrees, HeldTree
from commodore.core.sources.git.identity import Author, author_from, identity_environment
from commodore.core.sources.git.ls_remote import Pin, RemoteAnswers, RemoteState
from commodore.core.sources.git.mirrors import Mirrors
from commodore.core.sources.git.publish import PublishedClone, PushOutcome, commit, push, unstage, was_overtaken
from commodore.core.sources.git.repository import Repository
from commodore.core.sources.git.rights import Login, anonymous_variables
from commodore.core.sources.git.runner import Git, clean_environment, last_words, with_settings
from commodore.core.sources.git.staging import (
    Entry,
    RawChange,
    committed_files,
    disregard_attributes,
    read_blobs,
    stage_all,
    stage_exactly,
    staged_changes,
)
from commodore.core.sources.git.store import FETCH_STAGE, RepositoryStore
from commodore.core.sources.git.urls import bare_url, holds_credentials, normalize, redact, redact_text, repository_key
from commodore.core.sources.git.versions import check_version
from commodore.core.sources.git.worktree import Checkout, check_out, find_root, open_checkout

__all__ = [
    "Author",
    "Checkout",
    "CloneStore",
    "CommitStore",
    "CommitTrees",
    "Entry",
    "FETCH_STAGE",
    "Git",
    "GitRights",
    "HeldTree",
    "LocalChanges",
    "Login",
    "Mirrors",
    "NOT_FOLLOWED",
    "Pin",
    "PublishedClone",
    "PushOutcome",
    "RawChange",
    "RemoteAnswers",
    "RemoteState",
    "Repository",
    "RepositoryStore",
    "anonymous_variables",
    "author_from",
    "bare_url",
    "check_out",
    "check_out_tree",
    "check_version",
    "clean_environment",
    "commit",
    "committed_files",
    "disregard_attributes",
    "find_root",
    "holds_credentials",
    "identity_environment",
    "inspect",
    "last_words",
    "normalize",
    "open_checkout",
    "push",
    "read_blobs",
    "recover",
    "redact",
    "redact_text",
    "rejoin",
    "repository_key",
    "stage_all",
    "stage_exactly",
    "staged_changes",
    "unstage",
    "was_overtaken",
    "with_settings",
]
