"""The cache of exported packages, shared by all working directories: one folder per repository, commit and sub-folder.

An entry never changes once it is there, is never linked to, and is verified whenever it is copied out: damage or
removal of the cache costs the next run a download and nothing else.
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
    """The files of one package at one commit, as they lie in the cache: read them, never write to them."""

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
        """The export, if it is there and its jsonnetfile (which decides what else is fetched) is undamaged."""
        entry = self._entry(source, sha)
        try:
            about = self.store.describe(entry)
            if about is None or about["jsonnetfile"] != _file_digest(entry / "content" / FILE_NAME):
                return None
            return Export(source, sha, entry / "content", Measure(**about["measure"]))
        except (OSError, LookupError):
            return None

    def add(self, source: GitSource, sha: str, staged: Path) -> Export:
        """Take over a finished folder from `staging` as the package's export. Another process's may be there first.

        Raises:
            InputError: it is too large.
            EnvironmentFault: the disk refused.
        """
        entry = self._entry(source, sha)
        with guard_disk(entry):
            found = measure(staged)
            self._check_size(source, found)
            about = {
                "repository": source.remote.identity,
                "commit": sha,
                "subdir": source.subdir,
                "jsonnetfile": _file_digest(staged / FILE_NAME),
                "measure": asdict(found),
            }

            def move(content: Path) -> Measure:
                staged.rename(content)
                return found

            if self.look_up(source, sha) is None:
                self.store.evict(entry)  # what is damaged must not pass for another process's
            self.store.add(entry, move, about)
        return Export(source, sha, entry / "content", found)

    def copy(self, export: Export, destination: Path) -> bool:
        """Copy an export to the new folder `destination`. Returns False if it is damaged or gone."""
        return self.store.copy(export.content.parent, destination)

    def staging(self) -> AbstractContextManager[Path]:
        """A fresh folder on the cache's file system, removed afterwards; what killed runs have left goes, too."""
        return self.store.staging()

    def _entry(self, source: GitSource, sha: str) -> Path:
        return self.store.place(_key(source.remote.identity, sha, source.subdir))

    def _check_size(self, source: GitSource, found: Measure) -> None:
        limits = self._limits
        if found.bytes > limits.bundle_package_bytes or found.files > limits.bundle_package_files:
            raise InputError(
                "CMD-JB-024",
                f"the package {source.name} is too large: {found.files} files with {found.bytes} bytes",
                hint=f"at most {limits.bundle_package_files} files with {limits.bundle_package_bytes} bytes are taken;"
                " name the sub-folder that is needed",
                locations=[source.remote.url],
            )


def _key(repository: str, commit: str, subdir: str) -> str:
    return hashlib.sha256("\0".join((repository, commit, subdir)).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    """Digest of a file, empty if it is not there or no plain file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
