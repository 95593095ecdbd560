"""A repository's files at one revision."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.argocd.trees.ignored import IgnoredFiles
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.files.tree import Entry, walk
from commodore.core.sources.git import Git, HeldTree, redact

if TYPE_CHECKING:
    from commodore.argocd.trees.revisions import OwnRevisions

_SHOWN_LINKS: int = 10
"""Maximum of links in an error message."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The files of a repository.

    Attributes:
        root: the folder of the repository, real path. Nothing is ever written to it.
        revision: the commit; empty if the folder is not a checkout.
        name: its name in messages.
        held: holds the files in the cache, if they are there.
        stands: the revisions of its repository that are read from it; None for all.
        ignored: the files that git ignores; None if the folder is not a checkout.
    """

    root: Path
    revision: str
    name: str
    held: HeldTree | None = None
    stands: OwnRevisions | None = None
    ignored: IgnoredFiles | None = None
    _links: list[tuple[str, ...]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check_links(self, repository: str) -> None:
        """Refuse a repository with links that lead out of it, as Argo CD does.

        Args:
            repository: its URL in the source.

        Raises:
            PolicyError: CMD-ARGO-318, it has such links.
        """
        with self._lock:
            if not self._links:
                self._links.append(tuple(_leading_out(self.root)))
        if links := self._links[0]:
            raise PolicyError(
                "CMD-ARGO-318",
                f"{redact(repository)} has links that lead out of it: {', '.join(links[:_SHOWN_LINKS])}",
                hint="Argo CD renders nothing of such a repository; make the links relative, within the repository",
            )


def _leading_out(root: Path) -> Iterator[str]:
    """Yield the links below a folder, except in `.git`, that are absolute or lead out of it."""
    top = str(root)
    for name, entry in walk(top, skip=is_git):
        if not entry.is_symlink():
            continue
        target = os.readlink(entry.path)
        place = os.path.normpath(os.path.join(os.path.dirname(entry.path), target))
        if target.startswith("/") or not (place == top or place.startswith(f"{top}/")):
            yield name


def is_git(entry: Entry) -> bool:
    """Check if an entry is a `.git` folder, or the file that refers to one."""
    return entry.name == ".git"


def folder_tree(folder: Path, context: Context) -> Tree:
    """Return the tree of a folder in its current state. Its revision is the commit that is checked out.

    Raises:
        InputError: CMD-ARGO-001, the folder does not exist.
        PolicyError: CMD-ARGO-002, it is the root of the file system, a home folder, or above one.
    """
    if not folder.is_dir():
        raise InputError("CMD-ARGO-001", f"there is no folder {folder}", hint="check the path")
    real = Path(os.path.realpath(folder))
    home = Path(os.path.realpath(Path.home()))
    if real == home or real in home.parents:
        raise PolicyError(
            "CMD-ARGO-002",
            f"{folder} is a home folder, or contains home folders",
            hint="name the folder of the repository",
        )
    ignored = IgnoredFiles(real, context) if (real / ".git").exists() else None
    return Tree(real, commit_of(real, context), str(folder), ignored=ignored)


def commit_of(folder: Path, context: Context) -> str:
    """Return the commit that is checked out in a folder, or an empty text if it is not the root of a checkout."""
    if not (folder / ".git").exists():
        return ""
    try:
        answer = Git(folder, context).run(["rev-parse", "--verify", "HEAD^{commit}"], check=False)
    except CommodoreError:
        return ""
    return answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else ""
