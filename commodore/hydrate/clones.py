"""The repositories of additional sources, as the plan has found them, and of generators on this machine."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.core.sources.git import RepositoryStore, check_out_tree, repository_key

_LOCAL = "file://"


def revision_of(text: str) -> str | None:
    """A revision as stores take it: None for the default branch."""
    return None if text in ("", "HEAD") else text


@dataclass(frozen=True, slots=True)
class Clones:
    """Gives the files of repositories from clones that are there, so that none is asked twice in a run.

    Args:
        keys: of the repositories that it gives; None for those on this machine, which are fetched when they are asked
            for. They are dry repositories like others, and Argo CD's own ways refuse them.
        folder: where commits are laid out.
    """

    store: RepositoryStore
    keys: frozenset[str] | None
    folder: Path
    context: Context

    def resolve(self, url: str, revision: str) -> str | None:
        """The commit of a revision; None for repositories of others.

        Raises:
            CommodoreError: there is no such revision.
        """
        if self.keys is None and url.startswith(_LOCAL):
            self.store.sync([(url, revision_of(revision))])
        elif self.keys is None or repository_key(url) not in self.keys:
            return None
        repository = self.store.repository(url)
        if revision and not repository.has_commits([revision]):
            repository.fetch_commit(revision)
        return repository.resolve(revision_of(revision)).sha

    def tree(self, url: str, commit: str) -> Path:
        """A folder with the files of a commit."""
        name = hashlib.sha256(f"{repository_key(url)} {commit}".encode()).hexdigest()[:16]
        place = self.folder / f"additional-{name}"
        if not place.exists():
            check_out_tree(self.store.repository(url).path, commit, place, self.context)
        return place
