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

_KNOWN_LINKS: int = 10
"""Links leading out that an error names."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The files of a repository.

    Attributes:
        root: the folder of the repository, real path. Nothing is ever written to it.
        revision: the commit; empty if the folder is no checkout.
        name: what messages call it.
        held: keeps the files where they are, if they lie in the cache.
        stands: for which revisions, if it stands for a repository; None for all.
        ignored: the files that are there, but not for git; None if the folder is not a checkout.
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
            repository: the URL by which it is named.

        Raises:
            PolicyError: CMD-ARGO-318, there are some.
        """
        with self._lock:
            if not self._links:
                self._links.append(tuple(_leading_out(self.root)))
        if found := self._links[0]:
            raise PolicyError(
                "CMD-ARGO-318",
                f"{redact(repository)} has links that lead out of it: {', '.join(found[:_KNOWN_LINKS])}",
                hint="Argo CD renders nothing of such a repository; make the links relative, within the repository",
            )


def _leading_out(root: Path) -> Iterator[str]:
    """The links below a folder that are absolute or lead out of it, `.git` aside."""
    top = str(root)
    for name, entry in walk(top, skip=is_git):
        if not entry.is_symlink():
            continue
        target = os.readlink(entry.path)
        place = os.path.normpath(os.path.join(os.path.dirname(entry.path), target))
        if target.startswith("/") or not (place == top or place.startswith(f"{top}/")):
            yield name


def is_git(entry: Entry) -> bool:
    """Whether this is git's own folder, or the file that leads to it."""
    return entry.name == ".git"


def folder_tree(folder: Path, context: Context) -> Tree:
    """A folder as it lies; its revision is the commit that is checked out there.

    Raises:
        InputError: CMD-ARGO-001, there is no such folder.
        PolicyError: CMD-ARGO-002, it is the root of the file system, a home folder, or above one.
    """
    if not folder.is_dir():
        raise InputError("CMD-ARGO-001", f"there is no folder {folder}", hint="check the path")
    real = Path(os.path.realpath(folder))
    home = Path(os.path.realpath(Path.home()))
    if real == home or real in home.parents:
        raise PolicyError(
            "CMD-ARGO-002",
            f"{folder} is no repository but a home folder, or holds home folders",
            hint="name the folder of the repository",
        )
    ignored = IgnoredFiles(real, context) if (real / ".git").exists() else None
    return Tree(real, commit_of(real, context), str(folder), ignored=ignored)


def commit_of(folder: Path, context: Context) -> str:
    """The commit that is checked out in a folder; empty if it is no root of a checkout."""
    if not (folder / ".git").exists():
        return ""
    try:
        answer = Git(folder, context).run(["rev-parse", "--verify", "HEAD^{commit}"], check=False)
    except CommodoreError:
        return ""
    return answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else ""
