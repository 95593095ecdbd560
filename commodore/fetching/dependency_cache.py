"""The cache of fetched Kapitan dependencies, shared by all working directories: one folder per source and version.

An entry appears by a rename, complete, and never changes. It is copied out, never linked to, and verified while it is
copied: damage or removal costs the next run a download and nothing else. Neither names nor contents hold
credentials: the key is made from the URL without them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from commodore.caches.entry_store import TreeStore
from commodore.errors import EnvironmentFault
from commodore.git import redact
from commodore.limits import Limits
from commodore.tree import Rules, measure

_EXACT = re.compile(r"v?(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """A source, without credentials, at a version that always means the same files.

    `detail` is the chart, or the folder in the repository.
    """

    kind: str
    source: str
    version: str
    detail: str = ""

    @property
    def digest(self) -> str:
        """The name of the entry."""
        return hashlib.sha256(json.dumps([self.kind, self.source, self.version, self.detail]).encode()).hexdigest()


def chart_key(repository: str, chart: str, version: str | None) -> CacheKey | None:
    """The key of a chart; None if its version is a range or missing, or the URL says more than where it is."""
    if version is None or not _EXACT.fullmatch(version) or _has_query(repository):
        return None
    return CacheKey("helm", redact(repository), version, chart)


def commit_key(repository: str, commit: str, *, submodules: bool, folder: str) -> CacheKey | None:
    """The key of what a commit has in a folder, with or without its submodules' files; None as for charts."""
    if _has_query(repository):
        return None
    kind = "git with submodules" if submodules else "git"
    return CacheKey(kind, redact(repository), commit, folder)


def _has_query(url: str) -> bool:
    """A query may hold a credential, or choose what is served: neither may be guessed."""
    return "?" in url or "#" in url


class DependencyCache:
    """The folder of entries. Safe for several processes at once. A disk that refuses is as good as an empty cache."""

    def __init__(self, root: Path, limits: Limits) -> None:
        self.store = TreeStore(
            "dependencies", root, limits, Rules(exact=True, entries=limits.cached_files, bytes=limits.cached_bytes)
        )

    def copy(self, key: CacheKey, target: Path) -> bool:
        """Copy an entry to the new folder `target`, with modes and times. Returns False if there is no sound one."""
        return self.store.copy(self.store.place(key.digest), target)

    def holds(self, key: CacheKey, folder: Path, unless: Callable[[str], bool]) -> bool:
        """Whether `folder` has exactly the files of an entry, and nothing else but what `unless` says it of."""
        return self.store.holds(self.store.place(key.digest), folder, lambda entry: unless(entry.path))

    def add(self, key: CacheKey, folder: Path) -> None:
        """Keep a copy of `folder`. Nothing happens if it is too large, holds devices, or another process was faster."""
        with contextlib.suppress(OSError, EnvironmentFault):  # it is fetched again the next time
            self.store.add(
                self.store.place(key.digest), lambda content: measure(folder, content, self.store.rules), asdict(key)
            )
