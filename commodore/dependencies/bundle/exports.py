"""The cache of exported packages, shared by all working directories: one folder per repository, commit and sub-folder.

An entry never changes once it is there, is never linked to, and is verified whenever it is copied out: damage or
removal of the cache costs the next run a download and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from commodore.dependencies.bundle.jsonnetfile import FILE_NAME, GitSource
from commodore.dependencies.bundle.sums import Measure, measure
from commodore.errors import InputError
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.sealed import read_sealed, seal
from commodore.staging import staging
from commodore.workspace import guard_disk, remove_tree, write_atomically


@dataclass(frozen=True, slots=True)
class Export:
    """The files of one package at one commit, as they lie in the cache: read them, never write to them."""

    source: GitSource
    sha: str
    content: Path
    measure: Measure


class ExportCache:
    """The folder of exports. Safe for several processes at once: entries appear by rename, complete."""

    def __init__(self, root: Path, limits: Limits = DEFAULT_LIMITS) -> None:
        self.root = root
        self._limits = limits

    def look_up(self, source: GitSource, sha: str) -> Export | None:
        """The export, if it is there and its jsonnetfile (which decides what else is fetched) is undamaged."""
        entry = self._entry(source, sha)
        try:
            about = _read_about(entry)
            if about["jsonnetfile"] != _file_digest(entry / "content" / FILE_NAME):
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
            with self.staging() as folder:
                fresh = folder / "entry"
                fresh.mkdir()
                staged.rename(fresh / "content")
                about = {
                    "repository": source.remote.identity,
                    "commit": sha,
                    "subdir": source.subdir,
                    "jsonnetfile": _file_digest(fresh / "content" / FILE_NAME),
                    "measure": asdict(found),
                }
                content = json.dumps(about, sort_keys=True).encode()
                write_atomically(fresh / "about.json", seal(("library", entry.name), content))
                entry.parent.mkdir(parents=True, exist_ok=True)
                for _ in range(2):
                    try:
                        fresh.rename(entry)
                        break
                    except OSError:
                        if self.look_up(source, sha) is not None:
                            break
                        self.evict(source, sha)
        return Export(source, sha, entry / "content", found)

    def copy(self, export: Export, destination: Path) -> bool:
        """Copy an export to the new folder `destination`. Returns False if it is damaged or gone."""
        with contextlib.suppress(OSError):
            if measure(export.content, destination).digest == export.measure.digest:
                with contextlib.suppress(OSError):  # what is used last goes last when there is no more room
                    os.utime(export.content.parent / "about.json")
                return True
        remove_tree(destination)
        self.evict(export.source, export.sha)
        return False

    def evict(self, source: GitSource, sha: str) -> None:
        """Remove a damaged entry."""
        with self.staging() as folder, contextlib.suppress(OSError):
            self._entry(source, sha).rename(folder / "damaged")

    def staging(self) -> AbstractContextManager[Path]:
        """A fresh folder on the cache's file system, removed afterwards; what killed runs have left goes, too."""
        return staging(self.root, age=self._limits.staging_age)

    def _entry(self, source: GitSource, sha: str) -> Path:
        key = _key(source.remote.identity, sha, source.subdir)
        return self.root / key[:2] / key

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


def is_sound_export(entry: Path) -> bool:
    """Whether an entry is what was written, and stands under the name of what it says it is."""
    try:
        return bool(measure(entry / "content").digest == _read_about(entry)["measure"]["digest"])
    except (OSError, LookupError):
        return False


def _read_about(entry: Path) -> dict[str, Any]:
    """The description of an entry.

    Raises:
        LookupError: it is damaged, or that of another entry.
    """
    content = read_sealed(entry / "about.json", ("library", entry.name))
    if content is None:
        raise LookupError(entry)
    about: dict[str, Any] = json.loads(content)
    return about


def _key(repository: str, commit: str, subdir: str) -> str:
    return hashlib.sha256("\0".join((repository, commit, subdir)).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    """Digest of a file, empty if it is not there or no plain file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
