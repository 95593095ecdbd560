"""Which repository a tree is: its sources read the tree itself, so that a change is seen before it is pushed."""

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
    """The tree of a folder, and by `repository_identity` the repositories that it stands for.

    The tree is the whole checkout around the folder, or the folder if there is none. It stands for the remotes of the
    checkout, and for the URLs given.

    Args:
        revisions: which revisions of them it stands for.

    Raises:
        CommodoreError: see `folder_tree`.
    """
    tree = folder_tree(_root(folder, context) or folder, context)
    ignored = tree.ignored.within(folder.resolve()) if tree.ignored is not None else None
    tree = replace(tree, stands=own_revisions(tree.root, "", revisions, context), ignored=ignored)
    return tree, stands_for(tree, [*urls, *remotes_of(tree.root, context)])


def stands_for(tree: Tree, urls: Iterable[str]) -> dict[str, Tree]:
    """A tree by the repositories that it stands for, whether they are written as https:// or for ssh."""
    names = {repository_identity(url).removeprefix("https://") for url in urls}
    return {form: tree for name in sorted(names) for form in (name, f"https://{name}")}


def _root(folder: Path, context: Context) -> Path | None:
    text = _ask(["rev-parse", "--show-toplevel"], folder, context)
    return Path(text) if text else None


def remotes_of(root: Path, context: Context) -> list[str]:
    """The URLs of a repository's remotes; none if it is no repository."""
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
