"""Waiting for changes of the files that a compile reads, and telling what a compile has changed.

Files are looked at again and again, which works on every file system, network mounts and container volumes included;
how often depends on how long one look takes (ADR 0013).
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from commodore.base.errors import InputError
from commodore.base.events import Announce, Event, TaskBegun
from commodore.base.files.tree import children, files, lies_in
from commodore.base.files.workspace import guard_disk
from commodore.base.limits import Limits

# What editors and file managers write beside a file, and what Python compiles.
_EDITED: Final = r".*~|#.*#|\.#.*|.*\.(swp|swx|tmp|bak|orig|pyc)|4913|.*___jb_(tmp|old)___|__pycache__"
_NOISE: Final = re.compile(rf"\..*|{_EDITED}")
_NOISE_IN_TREES: Final = re.compile(rf"\.git|{_EDITED}")  # who reads a whole folder reads hidden files, too
_LOOKS: Final = 10  # pauses are this many times as long as a look, so that waiting takes little of a CPU
_RESTLESS: Final = 50  # looks after which a file that never comes to rest counts as changed
_REPEATS: Final = 2  # compiles that something which may have been edited and put back leads to, one after another

_Signature = tuple[int, ...]
_FIELDS: Final = 6  # of one file in a signature; the second one is the time at which it was changed in any way
_FOLDER: Final[_Signature] = (0,) * _FIELDS


@dataclass(frozen=True, slots=True)
class WatchedPaths:
    """What is watched.

    Args:
        roots: files, and folders with all that is below them but those of editors; links are followed.
        apart: what of it is not watched, such as that which a compile writes.
        base: the folder that names are told relative to.
        output: where a compile puts what it makes: never watched, even if an input reads it.
        hidden: watch hidden files, too, but for git's own.
    """

    roots: tuple[Path, ...]
    apart: tuple[Path, ...]
    base: Path
    output: tuple[Path, ...] = ()
    hidden: bool = False

    def name(self, path: str) -> str:
        """The name of a file in messages."""
        absolute = Path(path)
        return str(absolute.relative_to(self.base) if absolute.is_relative_to(self.base) else absolute)


class Reads(Protocol):
    """What a compile has recorded of the files that it has read. Paths are absolute.

    `files` were read or looked for, `folders` read with all that is in them (but for the paths that each names),
    `patterns` are those whose matches were listed, `written` the files and folders that the compile has made itself.
    """

    @property
    def files(self) -> Collection[str]: ...

    @property
    def folders(self) -> Mapping[str, Collection[str]]: ...

    @property
    def patterns(self) -> Collection[str]: ...

    @property
    def written(self) -> Collection[str]: ...

    def outdated(self) -> Collection[str]:
        """What is not there any more as it was read."""


@dataclass(slots=True)
class _Look:
    """What was there at one time.

    Args:
        files: files and links with what tells that they have changed.
        folders: the folders that were looked through.
        elsewhere: those of the files that are looked at only because they were read, or looked for.
        fresh: those that may be written once more without a new time of change.
    """

    files: dict[str, _Signature] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)

    def differing(self, other: _Look) -> set[str]:
        """The files that are not the same in both."""
        mine, others = self.files, other.files
        return {path for path in mine.keys() | others.keys() if mine.get(path) != others.get(path)}


class Watch:
    """Says when what was compiled should be compiled again: when files are not what they were.

    Args:
        sources: what to look at.
        limits: pauses, and how many files.
    """

    def __init__(self, sources: WatchedPaths, *, limits: Limits) -> None:
        self._sources = sources
        self._limits = limits
        self._fetching = False
        self._contents: dict[str, bytes] = {}
        self._reads: Reads | None = None
        self._elsewhere: list[str] = []
        self._suspicions: dict[str, int] = {}
        self._own: set[str] = set()

    def batches(self) -> Iterator[tuple[str, ...]]:
        """Gives the names of changed files each time that something has changed; at first, and at once, none.

        The caller compiles between two batches. What is saved meanwhile is the next batch, also if it was undone before
        the compile has ended: it may have read either. What the compile itself writes is none: dependencies that it
        fetches, and files that it rewrites with the content that they had.

        Raises:
            InputError: there are too many files.
        """
        before = self._look()
        self._contents = {path: _content(path) for path in before.files}
        yield ()
        while True:
            self._disregard_fetched(before)
            self._begin_with_reads(before)
            before, changed = self._since_compile(before)
            if not changed:
                before, changed = self._wait(before)
            self._fetching = False
            yield tuple(self._sources.name(path) for path in sorted(changed))

    def listen(self, announce: Announce) -> Announce:
        """A listener for compiles: it notes that something is fetched, and passes everything on."""

        def on_event(event: Event) -> None:
            self._fetching = self._fetching or (isinstance(event, TaskBegun) and event.task == "fetch")
            announce(event)

        return on_event

    def learn(self, reads: Reads) -> None:
        """Watch from now on what the last compile has read, wherever it is."""
        self._reads = reads
        output = [str(path) for path in self._sources.output]
        self._elsewhere = [path for path in reads.files if not lies_in(path, *output)]

    def _wait(self, before: _Look) -> tuple[_Look, set[str]]:
        """Until something is not as it was, and stays as it is then: editors write several times."""
        while True:
            start = time.monotonic()
            time.sleep(self._limits.watch_pause)
            now = self._look()
            if before.differing(now):
                now = self._settle(now)
            changed = {path for path in self._candidates(before, now) if self._is_new(path)}
            if changed:
                return now, changed
            before = now
            time.sleep(max(0.0, (_LOOKS - 1) * (time.monotonic() - start - self._limits.watch_pause)))

    def _since_compile(self, before: _Look) -> tuple[_Look, set[str]]:
        """What has changed since the compile began, or was something else while it went on.

        What was written but has its old content may have been edited and put back, unless there is a record of what the
        compile has read of it. Or the compile writes it itself: that shows by its being so after all compiles to which
        only that leads.
        """
        now = self._look()
        if before.differing(now):
            now = self._settle(now)
        changed = {path for path in self._candidates(before, now) if self._is_new(path)}
        touched = before.differing(now) - set(self._reads.files if self._reads else ())
        suspected = (touched | self._outdated()) - changed
        self._suspicions = {path: 0 if changed else self._suspicions.get(path, 0) + 1 for path in suspected}
        self._own |= {path for path, count in self._suspicions.items() if count > _REPEATS}
        self._own -= changed
        return now, changed | (suspected - self._own)

    def _outdated(self) -> set[str]:
        output = [str(path) for path in self._sources.output]
        return {path for path in self._reads.outdated() if not lies_in(path, *output)} if self._reads else set()

    def _candidates(self, before: _Look, now: _Look) -> set[str]:
        """What may have another content: its signature is another one, or would not be in any case."""
        return before.differing(now) | before.fresh

    def _is_new(self, path: str) -> bool:
        """Whether the content of a file is another one, which is remembered."""
        known, self._contents[path] = self._contents.get(path, b""), _content(path)
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
        for path in now.files.keys() - before.files.keys() - now.elsewhere:
            folder = os.path.dirname(path)
            if folder in now.folders and folder not in before.folders:
                self._begin_with(path, before, now)
        before.folders |= now.folders

    def _begin_with_reads(self, before: _Look) -> None:
        """From now on look at what was read; whether it has changed since then, the record of the reads tells."""
        if self._reads is None:
            return
        now = self._look()
        for path in before.elsewhere - now.elsewhere:
            before.files.pop(path, None)
        for path in now.elsewhere - before.elsewhere - before.files.keys():
            self._begin_with(path, before, now)
        before.elsewhere = now.elsewhere
        self._own |= {path for path in now.files if lies_in(path, *self._reads.written)}

    def _begin_with(self, path: str, before: _Look, now: _Look) -> None:
        if path in now.files:
            before.files[path] = now.files[path]
        self._contents[path] = _content(path)

    def _look(self) -> _Look:
        found = _Look()
        settled = time.time_ns() - int(self._limits.settled_seconds * 1e9)
        noise = _NOISE_IN_TREES if self._sources.hidden else _NOISE
        self._walk(
            [str(path) for path in self._sources.roots], noise, {str(path) for path in self._sources.apart}, found
        )
        if self._reads is not None:
            self._look_elsewhere(self._reads, found)
        found.fresh = {path for path, signature in found.files.items() if max(signature[1::_FIELDS]) >= settled}
        return found

    def _look_elsewhere(self, reads: Reads, found: _Look) -> None:
        """Look at what was read, as far as it was not seen yet."""
        beside = _Look()
        for folder, excluded in reads.folders.items():
            self._walk([folder], _NOISE_IN_TREES, set(excluded), beside)
        for path in (*self._elsewhere, *(hit for pattern in reads.patterns for hit in glob.glob(pattern))):
            signature = _signature(path)
            if signature is not None:
                beside.files[path] = signature
        output = [str(path) for path in self._sources.output]
        found.elsewhere = {path for path in (*self._elsewhere, *beside.files) if path not in found.files}
        found.elsewhere = {path for path in found.elsewhere if not lies_in(path, *output)}
        found.files |= {path: beside.files[path] for path in found.elsewhere if path in beside.files}

    def _walk(self, places: list[str], noise: re.Pattern[str], apart: set[str], found: _Look) -> None:
        seen: set[tuple[int, int]] = set()
        pending = places[::-1]
        while pending:
            place = pending.pop()
            try:
                if place in places:
                    _note(found, place)
                status = os.stat(place)
                if not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in seen:
                    continue
                seen.add((status.st_dev, status.st_ino))
                found.folders.add(place)
                pending += _enter(place, noise, apart, found)
            except OSError:  # it has just gone, or is not readable: then nothing is compiled with it either
                continue
            if len(found.files) > self._limits.watched_files:
                raise InputError(
                    "CMD-WATCH-001",
                    f"there are more than {self._limits.watched_files} files to watch",
                    hint="is one of the folders too large by mistake?",
                    locations=[str(root) for root in self._sources.roots],
                )


def _enter(place: str, noise: re.Pattern[str], apart: set[str], found: _Look) -> list[str]:
    """Note a folder's files and links; returns its folders."""
    folders = []
    for entry in children(place):
        if noise.fullmatch(entry.name) or entry.path in apart:
            continue
        if entry.is_dir():
            folders.append(entry.path)
        if entry.is_symlink() or entry.is_file():
            _note(found, entry.path)
    return folders[::-1]


def _note(found: _Look, path: str) -> None:
    """Note a file, or a link with the file that it leads to. A folder is noted by what is in it."""
    signature = _signature(path)
    if signature is not None and signature != _FOLDER:
        found.files[path] = signature


def _signature(path: str) -> _Signature | None:
    """What is another one when a file has changed; of a link also that of the file that it leads to."""
    try:
        status = os.lstat(path)
        if not stat.S_ISLNK(status.st_mode):
            return _fields(status)
        try:
            return *_fields(status), *_fields(os.stat(path))
        except OSError:  # it leads nowhere
            return _fields(status)
    except (OSError, ValueError):
        return None


def _fields(status: os.stat_result) -> _Signature:
    if stat.S_ISDIR(status.st_mode):
        return _FOLDER
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev, status.st_mode


def _content(path: str) -> bytes:
    """What a compile can see of a file: its bytes, its mode, where a link leads. Nothing if it is not there."""
    try:
        link = os.readlink(path) if os.path.islink(path) else ""
        status = os.stat(path)
        seen = f"{link}\0{status.st_mode:o}\0".encode("utf-8", "surrogateescape")
        if not stat.S_ISREG(status.st_mode):
            return seen
        with open(path, "rb") as file:
            return seen + hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b"a link" if os.path.islink(path) else b""


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
            for inner, path in files(folder):
                found[f"{name}/{inner}"] = path.read_bytes()
    return dict(sorted(found.items()))
