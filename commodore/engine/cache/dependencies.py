"""The cache of fetched Kapitan dependencies, shared by all working directories: one folder per source and version.

An entry appears by a rename, complete, and never changes. It is copied out, never linked to, and verified while it is
copied: damage or removal costs the next run a download and nothing else. Neither names nor contents hold
credentials: the key is made from the URL without them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from commodore.errors import EnvironmentFault
from commodore.git import redact
from commodore.limits import Limits
from commodore.sealed import read_sealed, seal
from commodore.staging import staging
from commodore.workspace import remove_tree, write_atomically

_EXACT = re.compile(r"v?(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


class _Refused(Exception):
    """A tree that is not cached."""


_NOT_KEPT = (_Refused, OSError, EnvironmentFault)
"""What lets a dependency be fetched again the next time, and does not matter otherwise."""


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
        self._root = root
        self._limits = limits

    def copy(self, key: CacheKey, target: Path) -> bool:
        """Copy an entry to the new folder `target`, with modes and times. Returns False if there is no sound one."""
        entry = self._entry(key)
        expected = _digest_of(entry)
        if expected is None and not os.path.lexists(entry):
            return False
        with contextlib.suppress(OSError, _Refused):
            target.parent.mkdir(parents=True, exist_ok=True)
            if expected is not None and _Copy(self._limits).perform(entry / "content", target) == expected:
                with contextlib.suppress(OSError):  # what is used last goes last when there is no more room
                    os.utime(entry / "about.json")
                return True
        remove_tree(target)
        self._evict(entry)
        return False

    def holds(self, key: CacheKey, folder: Path, unless: Callable[[str], bool]) -> bool:
        """Whether `folder` has exactly the files of an entry, and nothing else but what `unless` says it of."""
        try:
            return _Copy(self._limits, unless).perform(folder, None) == _digest_of(self._entry(key))
        except (OSError, _Refused):
            return False

    def add(self, key: CacheKey, folder: Path) -> None:
        """Keep a copy of `folder`. Nothing happens if it is too large, holds devices, or another process was faster."""
        entry = self._entry(key)
        with contextlib.suppress(*_NOT_KEPT), self._staging() as place:
            fresh = place / "entry"
            fresh.mkdir()
            digest = _Copy(self._limits).perform(folder, fresh / "content")
            about = {
                "kind": key.kind,
                "source": key.source,
                "version": key.version,
                "detail": key.detail,
                "digest": digest,
            }
            content = json.dumps(about, sort_keys=True).encode()
            write_atomically(fresh / "about.json", seal(("dependency", entry.name), content))
            entry.parent.mkdir(exist_ok=True)
            fresh.rename(entry)

    def _evict(self, entry: Path) -> None:
        with contextlib.suppress(*_NOT_KEPT), self._staging() as place:
            entry.rename(place / "damaged")

    def _entry(self, key: CacheKey) -> Path:
        digest = key.digest
        return self._root / digest[:2] / digest

    def _staging(self) -> AbstractContextManager[Path]:
        return staging(self._root, age=self._limits.staging_age)


def is_sound_entry(entry: Path, limits: Limits) -> bool:
    """Whether an entry is what was written, and stands under the name of what it says it is."""
    try:
        return _Copy(limits).perform(entry / "content", None) == _digest_of(entry)
    except (OSError, _Refused):
        return False


def _digest_of(entry: Path) -> str | None:
    """The digest that an entry was written with; None if its description is damaged, or that of another entry."""
    content = read_sealed(entry / "about.json", ("dependency", entry.name))
    return str(json.loads(content)["digest"]) if content is not None else None


class _Copy:
    """Copies a tree, or only reads it, and computes its digest: names, kinds, modes, contents."""

    def __init__(self, limits: Limits, unless: Callable[[str], bool] = lambda _: False) -> None:
        self._limits = limits
        self._unless = unless
        self._sum = hashlib.sha256()
        self._files = self._bytes = 0

    def perform(self, source: Path, target: Path | None) -> str:
        self._folder(str(source), str(target) if target is not None else None, "")
        return self._sum.hexdigest()

    def _folder(self, source: str, target: str | None, name: str) -> None:
        self._note("folder", name, f"{stat.S_IMODE(os.lstat(source).st_mode):o}")
        if target is not None:
            os.mkdir(target)
        for child in sorted(os.listdir(source)):
            path, inner = f"{source}/{child}", f"{name}/{child}"
            if self._unless(path):
                continue
            copied = f"{target}/{child}" if target is not None else None
            kind = os.lstat(path).st_mode
            if stat.S_ISDIR(kind):
                self._folder(path, copied, inner)
            elif stat.S_ISLNK(kind):
                self._note("link", inner, os.readlink(path))
                if copied is not None:
                    os.symlink(os.readlink(path), copied)
            elif stat.S_ISREG(kind):
                self._note("file", inner, f"{stat.S_IMODE(kind):o}", self._file(path, copied))
            else:
                raise _Refused(path)
        if target is not None:
            shutil.copystat(source, target)

    def _file(self, source: str, target: str | None) -> str:
        found = hashlib.sha256()
        with open(source, "rb") as reader, open(target, "xb") if target else contextlib.nullcontext() as writer:
            while chunk := reader.read(1 << 20):
                self._count(0, len(chunk))
                found.update(chunk)
                if writer is not None:
                    writer.write(chunk)
        if target is not None:
            shutil.copystat(source, target)
        return found.hexdigest()

    def _note(self, *parts: str) -> None:
        self._count(1, 0)
        line = "\0".join(part.replace("\0", "") for part in parts) + "\0\n"
        self._sum.update(line.encode("utf-8", "surrogateescape"))

    def _count(self, files: int, size: int) -> None:
        self._files += files
        self._bytes += size
        if self._files > self._limits.cached_files or self._bytes > self._limits.cached_bytes:
            raise _Refused("too large")
