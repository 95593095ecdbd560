"""Which repository a tree is: its sources read the tree itself, so that a change is seen before it is pushed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.trees import Tree, folder_tree
from commodore.context import Context
from commodore.errors import CommodoreError
from commodore.git import Git


def own_repositories(folder: Path, urls: Iterable[str], context: Context) -> tuple[Tree, dict[str, Tree]]:
    """The tree of a folder, and by `repository_identity` the repositories that it stands for.

    The tree is the whole checkout around the folder, or the folder if there is none. It stands for the remotes of the
    checkout, and for the URLs given.

    Raises:
        CommodoreError: see `folder_tree`.
    """
    tree = folder_tree(_root(folder, context) or folder, context)
    names = [*urls, *_remotes(tree.root, context)]
    return tree, {repository_identity(url): tree for url in names}


def _root(folder: Path, context: Context) -> Path | None:
    text = _ask(["rev-parse", "--show-toplevel"], folder, context)
    return Path(text) if text else None


def _remotes(root: Path, context: Context) -> list[str]:
    if not (root / ".git").exists():
        return []
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
