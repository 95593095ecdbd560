"""The repository of a tree: sources from it read the tree itself, so that changes are seen before they are pushed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.trees import SelfRevisions, Tree, folder_tree, own_revisions
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.core.sources.git import Git


def own_repositories(
    folder: Path, urls: Iterable[str], context: Context, revisions: SelfRevisions = "branches"
) -> tuple[Tree, dict[str, Tree]]:
    """Return the tree of a folder, and by `repository_identity` the repositories that it replaces.

    The tree is the whole checkout around the folder, or the folder outside of a checkout. It replaces the remotes of
    the checkout, and the given URLs.

    Args:
        revisions: the revisions of these that it replaces.

    Raises:
        CommodoreError: see `folder_tree`.
    """
    tree = folder_tree(_root(folder, context) or folder, context)
    ignored = tree.ignored.within(folder.resolve()) if tree.ignored is not None else None
    tree = replace(tree, stands=own_revisions(tree.root, "", revisions, context), ignored=ignored)
    return tree, stands_for(tree, [*urls, *remotes_of(tree.root, context)])


def stands_for(tree: Tree, urls: Iterable[str]) -> dict[str, Tree]:
    """Return a tree by the identities of the repositories that it replaces, for https:// and ssh."""
    names = {repository_identity(url).removeprefix("https://") for url in urls}
    return {form: tree for name in sorted(names) for form in (name, f"https://{name}")}


def _root(folder: Path, context: Context) -> Path | None:
    text = _ask(["rev-parse", "--show-toplevel"], folder, context)
    return Path(text) if text else None


def remotes_of(root: Path, context: Context) -> list[str]:
    """Return the URLs of the remotes of a repository; none if it is not a repository."""
    lines = _ask(["config", "--local", "--get-regexp", r"^remote\..*\.url$"], root, context).splitlines()
    return [line.partition(" ")[2] for line in lines]


def _ask(arguments: list[str], folder: Path, context: Context) -> str:
    if not folder.is_dir():
        return ""
    try:
        answer = Git(folder, context).run(arguments, check=False)
    except CommodoreError:
        return ""
    return answer.text if answer.returncode == 0 else ""
