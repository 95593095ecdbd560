"""The revisions that are read from a tree, and those of its local repository."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from commodore.argocd.trees.repository import DEFAULT_BRANCHES, git_output
from commodore.base.context import Context

SelfRevisions = Literal["branches", "all", "declared"]
"""Revisions that are read from the tree: no revision, `HEAD`, the default branch and the tree's; all; or its commit."""

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_HEAD = ("", "HEAD")


@dataclass(frozen=True, slots=True)
class OwnRevisions:
    """The revisions that are read from a tree. Others are read from the local repository.

    Attributes:
        repository: the local repository.
        names: names of branches, the empty name and `HEAD`; if empty, revisions with the tree's commit are read from
            it.
    """

    repository: Path
    names: frozenset[str]

    def cover(self, revision: str) -> bool:
        """Check if the name of a revision is among them."""
        return revision.removeprefix("refs/heads/") in self.names

    def joined(self, other: OwnRevisions | None) -> OwnRevisions:
        """Return these revisions with the names of the other side of a comparison."""
        return OwnRevisions(self.repository, self.names | other.names) if other is not None and self.names else self

    def tags(self, context: Context) -> list[str]:
        """Return the tags of the local repository."""
        return git_output(
            self.repository, context, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags"
        ).splitlines()

    def commit(self, revision: str, context: Context) -> str:
        """Return the commit of a revision in the local repository, as last fetched, or an empty text."""
        for name in _full_names(revision):
            if commit := git_output(self.repository, context, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}"):
                return commit
        return ""


def own_revisions(repository: Path, revision: str, mode: SelfRevisions, context: Context) -> OwnRevisions | None:
    """Return the revisions that are read from a tree, or None for all, as for a folder outside of a repository.

    Args:
        repository: the folder of the tree's repository.
        revision: of the tree; empty for the work tree, which has the branch that is checked out.
    """
    if mode == "all" or not git_output(repository, context, "rev-parse", "--git-dir"):
        return None
    if mode == "declared":
        return OwnRevisions(repository, frozenset())
    full = git_output(repository, context, "rev-parse", "--symbolic-full-name", "--end-of-options", revision or "HEAD")
    branch = re.fullmatch(r"refs/(?:heads|remotes/[^/]+)/(.+)", full.splitlines()[-1] if full else "")
    own = {branch[1]} if branch is not None else set()
    return OwnRevisions(repository, frozenset({*_HEAD, *_default_branches(repository, context), *own}))


def _default_branches(repository: Path, context: Context) -> set[str]:
    """Return the default branch of `origin`, or the usual names if a clone does not record it."""
    head, *usual = DEFAULT_BRANCHES
    known = git_output(repository, context, "symbolic-ref", "--quiet", head)
    return {name.removeprefix("refs/remotes/origin/") for name in ([known] if known else usual)}


def _full_names(revision: str) -> list[str]:
    if revision in _HEAD:
        return [*DEFAULT_BRANCHES, "HEAD"]
    if revision.startswith("-") or not revision.isprintable():
        return []
    branch = revision.removeprefix("refs/heads/")
    branches = [f"refs/remotes/origin/{branch}", f"refs/heads/{branch}"]
    if revision.startswith("refs/"):
        return branches if branch != revision else [revision]
    return [*branches, f"refs/tags/{revision}", *([revision] if _COMMIT.fullmatch(revision) else [])]
