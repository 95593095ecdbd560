"""Cache of fetched Kapitan dependencies, shared by all working directories: one folder per source and version.

An entry appears by a rename, complete, and never changes. It is copied out, never linked to, and verified while it is
copied: damage or removal costs the next run a download and nothing else. Neither names nor contents hold
credentials: the key is made from the URL without them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.files.tree import Rules, measure
from commodore.base.limits import Limits
from commodore.base.values.versions import is_exact
from commodore.core.confinement.hosts import host_of
from commodore.core.results.caches.entry_store import TreeStore
from commodore.core.sources.fetching.remote_dependencies import RemoteDependencies
from commodore.core.sources.git import redact


@dataclass(frozen=True, slots=True)
class CacheKey:
    """A source, without credentials, at a version that always means the same files.

    `detail` is the chart, or the folder in the repository. A `private` entry stays on this machine: its source has
    credentials in its URL, or is a local path.
    """

    kind: str
    source: str
    version: str
    detail: str = ""
    private: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, kind: str, url: str, version: str, detail: str) -> CacheKey:
        """Return the key for a URL that may hold credentials."""
        source = redact(url)
        return cls(kind, source, version, detail, private=source != url or host_of(url) in ("", "localhost"))

    @property
    def about(self) -> dict[str, str]:
        """The description of the entry."""
        return {"kind": self.kind, "source": self.source, "version": self.version, "detail": self.detail}

    @property
    def digest(self) -> str:
        """The name of the entry."""
        return hashlib.sha256(json.dumps(list(self.about.values())).encode()).hexdigest()


def chart_key(repository: str, chart: str, version: str | None) -> CacheKey | None:
    """Return the key of a chart; None if its version is a range or missing, or the URL has a query."""
    if version is None or not is_exact(version) or _has_query(repository):
        return None
    return CacheKey.of("helm", repository, version, chart)


def commit_key(repository: str, commit: str, *, submodules: bool, folder: str) -> CacheKey | None:
    """Return the key of a folder of a commit, with or without its submodules' files; None as for charts."""
    if _has_query(repository):
        return None
    kind = "git with submodules" if submodules else "git"
    return CacheKey.of(kind, repository, commit, folder)


def _has_query(url: str) -> bool:
    """Check if a URL has a query, which may hold a credential or select the content that is served."""
    return "?" in url or "#" in url


class DependencyCache:
    """The folder of entries. Safe for several processes at once. Errors of the disk are treated as an empty cache.

    Args:
        remote: the stores that missing entries are fetched from; None for no stores.

    Attributes:
        added: the entries that were added and may be uploaded for other machines.
    """

    def __init__(self, root: Path, limits: Limits, remote: RemoteDependencies | None = None) -> None:
        self.store = TreeStore(
            "dependencies", root, limits, Rules(exact=True, entries=limits.cached_files, bytes=limits.cached_bytes)
        )
        self.added: list[CacheKey] = []
        self._bounds = replace(limits, archive_members=limits.cached_files, archive_bytes=2 * limits.result_bytes)
        self._remote = remote

    @property
    def is_shared(self) -> bool:
        """Check if entries may come from remote stores."""
        return self._remote is not None

    def copy(self, key: CacheKey, target: Path) -> bool:
        """Copy an entry to the new folder `target`, with modes and times. Returns False without an intact entry."""
        if self.store.copy(self._place(key), target):
            return True
        return self.bring([key]) > 0 and self.store.copy(self._place(key), target)

    def holds(self, key: CacheKey, folder: Path, unless: Callable[[str], bool]) -> bool:
        """Check if `folder` has exactly the files of an entry; files for which `unless` returns True are ignored."""
        return self.store.holds(self._place(key), folder, lambda entry: unless(entry.path))

    def add(self, key: CacheKey, folder: Path, *, anew: bool = False) -> None:
        """Add a copy of `folder`. Nothing happens if it is too large, holds devices, or another process was faster.

        Args:
            anew: replace an existing entry.
        """
        rules = self.store.rules
        with contextlib.suppress(OSError, EnvironmentFault):  # it is fetched again the next time
            self.store.add(self._place(key), lambda content: measure(folder, content, rules), key.about, anew=anew)
            if not key.private:
                self.added.append(key)

    def bring(self, keys: Iterable[CacheKey]) -> int:
        """Fetch missing entries from remote stores. Returns the number of fetched entries."""
        if self._remote is None:
            return 0
        missing = {key.digest: key for key in keys if not key.private and self.store.describe(self._place(key)) is None}
        return self._remote.bring(missing, lambda digest, packed: self._adopt(missing[digest], packed))

    def pack(self, key: CacheKey) -> bytes | None:
        """Return an entry packed for other machines; None without an intact entry, or if it is too large."""
        from commodore.core.sources.fetching import archives  # imports libraries that few runs need

        with contextlib.suppress(OSError, CommodoreError), self.store.staging() as aside:
            if self.store.copy(self._place(key), aside / "content"):
                return archives.pack(aside / "content", self.store.limits.result_bytes)
        return None

    def _adopt(self, key: CacheKey, packed: bytes) -> None:
        """Add an entry that another machine has packed. One that cannot be unpacked is left out."""
        from commodore.core.sources.fetching import archives

        with contextlib.suppress(OSError, CommodoreError), self.store.staging() as aside:
            archive, folder = aside / "packed.tar.gz", aside / "content"
            archive.write_bytes(packed)
            folder.mkdir()
            archives.unpack(archive, folder, "application/gzip", self._bounds)
            self.store.add(self._place(key), lambda content: measure(folder, content, self.store.rules), key.about)

    def _place(self, key: CacheKey) -> Path:
        return self.store.place(key.digest)
