"""Which revisions of its own repository a tree stands for, and what the local repository has of the others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from commodore.argocd.trees.repository import DEFAULT_BRANCHES, ask
from commodore.base.context import Context

SelfRevisions = Literal["branches", "all", "declared"]
"""Which revisions are the tree: none, `HEAD`, the default branch and that of the tree; all; or those of its commit."""

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_HEAD = ("", "HEAD")


@dataclass(frozen=True, slots=True)
class OwnRevisions:
    """The revisions that a tree stands for. The local repository has the others.

    Attributes:
        repository: that repository.
        names: branches, and the empty name and `HEAD`; if there are none, a revision counts if it is the tree's commit.
    """

    repository: Path
    names: frozenset[str]

    def cover(self, revision: str) -> bool:
        """Whether the name of a revision is among them."""
        return revision.removeprefix("refs/heads/") in self.names

    def joined(self, other: OwnRevisions | None) -> OwnRevisions:
        """With the names that the other side of a comparison has."""
        return OwnRevisions(self.repository, self.names | other.names) if other is not None and self.names else self

    def tags(self, context: Context) -> list[str]:
        """The tags that the local repository has."""
        return ask(self.repository, context, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags").splitlines()

    def commit(self, revision: str, context: Context) -> str:
        """The commit of a revision in the local repository, as the remote had it last; empty if it is not there."""
        for name in _full_names(revision):
            if found := ask(self.repository, context, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}"):
                return found
        return ""


def own_revisions(repository: Path, revision: str, wanted: SelfRevisions, context: Context) -> OwnRevisions | None:
    """Which revisions a tree stands for; None for all, as for a folder that is in no repository.

    Args:
        repository: around the tree.
        revision: of the tree; empty for the folder as it lies, which has the branch that is checked out.
    """
    if wanted == "all" or not ask(repository, context, "rev-parse", "--git-dir"):
        return None
    if wanted == "declared":
        return OwnRevisions(repository, frozenset())
    full = ask(repository, context, "rev-parse", "--symbolic-full-name", "--end-of-options", revision or "HEAD")
    branch = re.fullmatch(r"refs/(?:heads|remotes/[^/]+)/(.+)", full.splitlines()[-1] if full else "")
    own = {branch[1]} if branch is not None else set()
    return OwnRevisions(repository, frozenset({*_HEAD, *_default_branches(repository, context), *own}))


def _default_branches(repository: Path, context: Context) -> set[str]:
    """The default branch of `origin`; the usual ones if a clone does not say which it is."""
    head, *usual = DEFAULT_BRANCHES
    known = ask(repository, context, "symbolic-ref", "--quiet", head)
    return {one.removeprefix("refs/remotes/origin/") for one in ([known] if known else usual)}


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
