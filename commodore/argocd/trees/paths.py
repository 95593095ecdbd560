"""Paths of sources: relative, and within the repository with links resolved."""

from __future__ import annotations

import os
from pathlib import Path

from commodore.argocd.trees.tree import Tree
from commodore.base.errors import InputError, Location, PolicyError
from commodore.core.sources.git import redact


def folder_of(tree: Tree, path: str, place: Location, repository: str) -> Path:
    """Return the folder that a source names in its repository.

    Args:
        repository: its URL in the source.

    Raises:
        InputError: CMD-ARGO-309, the path is absolute, leaves the repository, does not exist or is not a folder.
        PolicyError: CMD-ARGO-318, the repository has links that lead out of it.
    """
    if path.startswith("/"):
        raise _bad(path, "is absolute", "write it relative to the root of the repository", place)
    lexical = os.path.normpath(path) if path else "."
    if lexical == ".." or lexical.startswith("../") or "\0" in path:
        raise _bad(path, "leaves the repository", "write it relative to the root of the repository", place)
    folder = tree.root / lexical
    if not is_within(folder, tree.root):
        raise _bad(path, "leaves the repository", "links must stay within the repository", place)
    if not os.path.exists(folder):  # also False for a path that is too long
        raise _bad(path, f"is not in {redact(repository)}", "check the path and the revision", place)
    if not os.path.isdir(folder):
        raise _bad(path, "is not a folder", "name the folder of the file", place)
    tree.check_links(repository)
    return folder


def _bad(path: str, what: str, hint: str, place: Location) -> InputError:
    return InputError("CMD-ARGO-309", f"the path {path!r} {what}", hint=hint, locations=[place])


def check_inside(path: Path, root: Path, named: str) -> None:
    """Refuse a path that is not below a folder once links are resolved.

    Args:
        named: the path as it is written.

    Raises:
        PolicyError: CMD-ARGO-408.
    """
    if not is_within(path, root) or os.path.realpath(path) == os.path.realpath(root):
        raise PolicyError(
            "CMD-ARGO-408",
            f"{named!r} leads out of its repository",
            hint="name files within the repository; those of another one need a source with a ref",
        )


def is_within(path: Path, root: Path) -> bool:
    """Check if a path is, with links resolved, a folder or below it, and not in `.git`, which has credentials of
    remotes.
    """
    if "\0" in str(path):
        return False
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or (real.startswith(f"{top}/") and ".git" not in real[len(top) :].split("/"))
