"""Cache of exported packages, shared by all working directories: one folder per repository, commit and sub-folder.

An entry never changes, is never linked to, and is verified whenever it is copied: damage or removal of the cache costs
the next run a download and nothing else.
"""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.files.tree import Measure, Rules, measure
from commodore.base.files.workspace import guard_disk
from commodore.core.dependencies.bundle.jsonnetfile import FILE_NAME, GitSource
from commodore.core.results.caches.entry_store import TreeStore


@dataclass(frozen=True, slots=True)
class Export:
    """The cached files of one package at one commit. They must not be changed."""

    source: GitSource
    sha: str
    content: Path
    measure: Measure


class ExportCache:
    """The folder of exports. Safe for several processes at once: entries appear by rename, complete."""

    def __init__(self, root: Path, context: Context) -> None:
        self.store = TreeStore("libraries", root, context.limits, Rules())
        self._limits = context.limits

    def look_up(self, source: GitSource, sha: str) -> Export | None:
        """Return the export if it exists and its jsonnetfile, which decides what else is fetched, is intact."""
        entry = self._entry(source, sha)
        try:
            about = self.store.describe(entry)
            if about is None or about["jsonnetfile"] != _file_digest(entry / "content" / FILE_NAME):
                return None
            return Export(source, sha, entry / "content", Measure(**about["measure"]))
        except (OSError, LookupError):
            return None

    def add(self, source: GitSource, sha: str, staged: Path) -> Export:
        """Move a complete folder from `staging` to the package's export. Another process may have added it first.

        Raises:
            InputError: it is too large.
            EnvironmentFault: the disk refused.
        """
        entry = self._entry(source, sha)
        with guard_disk(entry):
            size = measure(staged)
            self._check_size(source, size)
            about = {
                "repository": source.remote.identity,
                "commit": sha,
                "subdir": source.subdir,
                "jsonnetfile": _file_digest(staged / FILE_NAME),
                "measure": asdict(size),
            }

            def move(content: Path) -> Measure:
                staged.rename(content)
                return size

            if self.look_up(source, sha) is None:
                self.store.evict(entry)  # a damaged entry must not be taken for that of another process
            self.store.add(entry, move, about)
        return Export(source, sha, entry / "content", size)

    def copy(self, export: Export, destination: Path) -> bool:
        """Copy an export to the new folder `destination`. Returns False if it is damaged or gone."""
        return self.store.copy(export.content.parent, destination)

    def staging(self) -> AbstractContextManager[Path]:
        """A temporary folder on the cache's file system, removed afterwards, like leftovers of killed runs."""
        return self.store.staging()

    def _entry(self, source: GitSource, sha: str) -> Path:
        return self.store.place(_key(source.remote.identity, sha, source.subdir))

    def _check_size(self, source: GitSource, size: Measure) -> None:
        limits = self._limits
        if size.bytes > limits.bundle_package_bytes or size.files > limits.bundle_package_files:
            raise InputError(
                "CMD-JB-024",
                f"the package {source.name} is too large: {size.files} files with {size.bytes} bytes",
                hint=f"the limit is {limits.bundle_package_files} files with {limits.bundle_package_bytes} bytes;"
                " name the sub-folder that is needed",
                locations=[source.remote.url],
            )


def _key(repository: str, commit: str, subdir: str) -> str:
    return hashlib.sha256("\0".join((repository, commit, subdir)).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    """Return the digest of a file; empty if it is missing or not a regular file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
