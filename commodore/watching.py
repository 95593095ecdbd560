"""Waiting for changes of the files that a compile reads, and telling what a compile has changed.

Files are looked at again and again, which works on every file system, network mounts and container volumes included;
how often depends on how long one look takes (ADR 0013).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from commodore.errors import InputError
from commodore.events import Announce, Event, TaskBegun
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.workspace import guard_disk

# What editors and file managers write beside a file, and what Python compiles; names that begin with a dot come to it.
_NOISE: Final = re.compile(r"\..*|.*~|#.*#|.*\.(swp|swx|tmp|bak|orig|pyc)|4913|.*___jb_(tmp|old)___|__pycache__")
_LOOKS: Final = 10  # pauses are this many times as long as a look, so that waiting takes little of a CPU
_RESTLESS: Final = 50  # looks after which a file that never comes to rest counts as changed

_Signature = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Sources:
    """What is watched.

    Args:
        roots: files, and folders with all that is below them but hidden files and those of editors; links are followed.
        apart: what of it is not watched, such as that which a compile writes.
        base: the folder that names are told relative to.
    """

    roots: tuple[Path, ...]
    apart: tuple[Path, ...]
    base: Path

    def name(self, path: str) -> str:
        """What a file is called when a person is told of it."""
        absolute = Path(path)
        return str(absolute.relative_to(self.base) if absolute.is_relative_to(self.base) else absolute)


@dataclass(slots=True)
class _Look:
    """What was there at one time: files with what tells that they have changed, and folders."""

    files: dict[str, _Signature] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    def differing(self, other: _Look) -> list[str]:
        """The files that are not the same in both."""
        mine, others = self.files, other.files
        return sorted(path for path in mine.keys() | others.keys() if mine.get(path) != others.get(path))


class Watch:
    """Says when what was compiled should be compiled again: when files have another content than they had.

    Args:
        sources: what to look at.
        limits: pauses, and how many files.
    """

    def __init__(self, sources: Sources, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._sources = sources
        self._limits = limits
        self._fetching = False
        self._contents: dict[str, bytes] = {}

    def batches(self) -> Iterator[tuple[str, ...]]:
        """Gives the names of changed files each time that something has changed; at first, and at once, none.

        Whoever iterates compiles in between. What is saved meanwhile is the next batch; what the compile itself writes
        is none: dependencies that it fetches, and files that it writes anew with the content that they had.

        Raises:
            InputError: there are too many files.
        """
        before = self._look()
        self._contents = {path: _digest(path) for path in before.files}
        yield ()
        while True:
            self._disregard_fetched(before)
            before, changed = self._wait(before)
            self._fetching = False
            yield tuple(self._sources.name(path) for path in changed)

    def listen(self, announce: Announce) -> Announce:
        """A listener for compiles: it hears that something is fetched, and passes everything on."""

        def hear(event: Event) -> None:
            self._fetching = self._fetching or (isinstance(event, TaskBegun) and event.task == "fetch")
            announce(event)

        return hear

    def _wait(self, before: _Look) -> tuple[_Look, list[str]]:
        """Until something is not as it was, and stays as it is then: editors write several times."""
        while True:
            start = time.monotonic()
            now = self._look()
            if before.differing(now):
                now = self._settle(now)
                changed = [path for path in before.differing(now) if self._is_new(path, now)]
                if changed:
                    return now, changed
                before = now
            time.sleep(max(self._limits.watch_pause, _LOOKS * (time.monotonic() - start)))

    def _is_new(self, path: str, now: _Look) -> bool:
        """Whether the content of a file is another one, which is remembered."""
        known = self._contents.pop(path, None)
        if path not in now.files:
            return True
        self._contents[path] = _digest(path)
        return self._contents[path] != known

    def _settle(self, now: _Look) -> _Look:
        for _ in range(_RESTLESS):
            time.sleep(self._limits.watch_settled)
            later = self._look()
            if not now.differing(later):
                break
            now = later
        return now

    def _disregard_fetched(self, before: _Look) -> None:
        """Files in new folders, where something was fetched, are there as if they always had been."""
        if not self._fetching:
            return
        now = self._look()
        for path in now.files.keys() - before.files.keys():
            folder = os.path.dirname(path)
            if folder in now.folders and folder not in before.folders:
                before.files[path] = now.files[path]
                self._contents[path] = _digest(path)
        before.folders |= now.folders

    def _look(self) -> _Look:
        found = _Look()
        apart = {str(path) for path in self._sources.apart}
        seen: set[tuple[int, int]] = set()
        pending = [str(path) for path in reversed(self._sources.roots)]
        while pending:
            place = pending.pop()
            try:
                status = os.stat(place)
                if not stat.S_ISDIR(status.st_mode):
                    found.files[place] = _signature(status)
                    continue
                if (status.st_dev, status.st_ino) in seen:
                    continue
                seen.add((status.st_dev, status.st_ino))
                found.folders.add(place)
                pending += self._enter(place, apart, found)
            except OSError:  # it has just gone, or nobody may read it: then nothing is compiled with it either
                continue
            if len(found.files) > self._limits.watched_files:
                raise InputError(
                    "CMD-WATCH-001",
                    f"there are more than {self._limits.watched_files} files to watch",
                    hint="is one of the folders too large by mistake?",
                    locations=[str(root) for root in self._sources.roots],
                )
        return found

    def _enter(self, place: str, apart: set[str], found: _Look) -> list[str]:
        """Note a folder's files; returns its folders."""
        folders = []
        with os.scandir(place) as entries:
            for entry in entries:
                if _NOISE.fullmatch(entry.name) or entry.path in apart:
                    continue
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.is_file():
                    found.files[entry.path] = _signature(entry.stat())
        return sorted(folders, reverse=True)


def _signature(status: os.stat_result) -> _Signature:
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode


def _digest(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b""


def read_trees(folders: Mapping[str, Path]) -> dict[str, bytes]:
    """The files below some folders, by their path with what the folder is called in front. Links are not followed.

    Args:
        folders: those that are not there have no files.

    Raises:
        EnvironmentFault: a file cannot be read.
    """
    found: dict[str, bytes] = {}
    for name, folder in folders.items():
        with guard_disk(folder):
            for path in _files_below(folder):
                found[f"{name}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()
    return dict(sorted(found.items()))


def _files_below(folder: Path) -> Iterable[Path]:
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            if path.is_file() and not path.is_symlink():
                yield path
