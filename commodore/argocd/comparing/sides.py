"""The two trees of a comparison: work trees, and commits that are checked out during a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from commodore.argocd.discovery import SearchRoot, remotes_of
from commodore.argocd.trees import commit_tree, merge_base, own_revisions, repository_of, resolve
from commodore.base.context import Context


@dataclass(frozen=True, slots=True)
class Side:
    """One tree.

    Attributes:
        shown: its name in reports.
        commit: the commit that is checked out; empty for a work tree.
    """

    at: SearchRoot
    shown: str
    commit: str = ""

    @property
    def root(self) -> Path:
        """The root of the tree."""
        return self.at.tree.root if self.at.tree is not None else self.at.folder

    @property
    def ignored(self) -> frozenset[str]:
        """Absolute paths that git ignores in the tree."""
        tree = self.at.tree
        return tree.ignored.paths() if tree is not None and tree.ignored is not None else frozenset()


def find_merge_base(root: SearchRoot, revision: str, place: Path, context: Context) -> Side:
    """Return the merge base of a target and the default branch of `origin`.

    Args:
        root: the folder of the target.
        revision: of the target; empty for the work tree.
        place: see `find_side`.

    Raises:
        InputError: CMD-ARGO-001, 003, 004, 005, no repository, revision or branch, or no such commit.
    """
    repository, _ = repository_of(root.folder, context)
    commit, branch = merge_base(repository, revision, context)
    return replace(find_side(root, commit, place, context), shown=f"{commit[:10]}, where it left {branch}")


def pair_of(base: Side, target: Side) -> tuple[Side, Side]:
    """Give two sides the same repositories and revisions: those of both."""
    urls = dict.fromkeys((*target.at.search.self_url, *base.at.search.self_url))
    first, second = (_joined(side.at, other.at) for side, other in ((base, target), (target, base)))
    return replace(base, at=_called(first, *urls)), replace(target, at=_called(second, *urls))


def _called(root: SearchRoot, *urls: str) -> SearchRoot:
    return replace(root, search=replace(root.search, self_url=urls))


def _joined(root: SearchRoot, other: SearchRoot) -> SearchRoot:
    tree = root.tree
    if tree is None or tree.stands is None or other.tree is None:
        return root
    return replace(root, tree=replace(tree, stands=tree.stands.joined(other.tree.stands)))


_NAME = "the repository"
"""Name of either tree in messages, so that messages of both sides can be equal."""


def find_side(root: SearchRoot, revision: str, place: Path, context: Context) -> Side:
    """Return a tree: the work tree, or a commit of its repository.

    Args:
        revision: of that commit; empty for the folder.
        place: a new folder, to which the commit is checked out.

    Raises:
        InputError: CMD-ARGO-001, 003, 004, the folder, the revision or the repository does not exist.
    """
    if not revision:
        tree, _ = root.own(context)
        tree = replace(tree, name=_NAME)
        urls = (*root.search.self_url, *remotes_of(tree.root, context))
        return Side(_called(replace(root, tree=tree), *urls), str(root.folder))
    repository, inside = repository_of(root.folder, context)
    commit = resolve(repository, revision, context)
    shown = f"{revision} ({commit[:10]})" if not commit.startswith(revision) else commit[:10]
    tree = commit_tree(repository, commit, place, _NAME, context)
    tree = replace(tree, stands=own_revisions(repository, revision, root.search.self_revisions, context))
    urls = (*root.search.self_url, *remotes_of(repository, context))
    return Side(_called(replace(root, folder=tree.root / inside, tree=tree), *urls), shown, commit)
