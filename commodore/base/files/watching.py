"""Wait for changes of a compile's input files, and detect the changes that a compile made itself.

Files are polled, which works on every file system including network mounts and container volumes; the interval depends
on the duration of a scan (ADR 0013).
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

# Temporary files of editors and file managers, and compiled Python.
_EDITED: Final = r".*~|#.*#|\.#.*|.*\.(swp|swx|tmp|bak|orig|pyc)|4913|.*___jb_(tmp|old)___|__pycache__"
_NOISE: Final = re.compile(rf"\..*|{_EDITED}")
_NOISE_IN_TREES: Final = re.compile(rf"\.git|{_EDITED}")  # readers of a whole folder also read hidden files
_LOOKS: Final = 10  # pauses are this many times as long as a scan, to use little CPU
_RESTLESS: Final = 50  # scans after which a constantly changing file counts as changed
_REPEATS: Final = 2  # consecutive compiles caused by files that may have been edited and restored

_Signature = tuple[int, ...]
_FIELDS: Final = 6  # the fields of a file's signature; the second is its change time (ctime)
_FOLDER: Final[_Signature] = (0,) * _FIELDS


@dataclass(frozen=True, slots=True)
class WatchedPaths:
    """The watched files.

    Args:
        roots: files, and folders with everything below them except for files of editors; links are followed.
        excluded: the paths that are not watched, such as outputs of a compile.
        base: the folder to which reported names are relative.
        output: the output folder of a compile: never watched, even if it is an input.
        hidden: watch hidden files, too, except for `.git`.
    """

    roots: tuple[Path, ...]
    excluded: tuple[Path, ...]
    base: Path
    output: tuple[Path, ...] = ()
    hidden: bool = False

    def name(self, path: str) -> str:
        """Return the name of a file for messages."""
        absolute = Path(path)
        return str(absolute.relative_to(self.base) if absolute.is_relative_to(self.base) else absolute)


class Reads(Protocol):
    """The recorded input files of a compile. Paths are absolute.

    `files` were read or searched for, `folders` were read with all their contents (except for the paths listed with
    each), `patterns` are globs whose matches were listed, `written` the files and folders that the compile created.
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
        """The inputs that have changed or disappeared since they were read."""


@dataclass(slots=True)
class _Scan:
    """The state of the files at one time.

    Args:
        files: files and links with their signatures.
        folders: the scanned folders.
        elsewhere: the files that are scanned only because they were read or searched for.
        fresh: the files that may change again without a new change time.
    """

    files: dict[str, _Signature] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)

    def differing(self, other: _Scan) -> set[str]:
        """Return the files that differ."""
        mine, others = self.files, other.files
        return {path for path in mine.keys() | others.keys() if mine.get(path) != others.get(path)}


class Watch:
    """Detects when compiled inputs have changed.

    Args:
        sources: the watched files.
        limits: pauses, and the most files.
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
        """Yield the names of changed files after each change; an empty batch first, at once.

        The caller compiles between two batches. Changes meanwhile are the next batch, even if they are reverted before
        the compile has ended: it may have read either version. Files written by the compile itself are excluded:
        fetched dependencies, and files that it rewrites with the same content.

        Raises:
            InputError: there are too many files.
        """
        before = self._scan()
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
        """Return a listener for compiles, which notes fetches and passes all events on."""

        def on_event(event: Event) -> None:
            self._fetching = self._fetching or (isinstance(event, TaskBegun) and event.task == "fetch")
            announce(event)

        return on_event

    def learn(self, reads: Reads) -> None:
        """Watch the inputs of the last compile from now on, wherever they are."""
        self._reads = reads
        output = [str(path) for path in self._sources.output]
        self._elsewhere = [path for path in reads.files if not lies_in(path, *output)]

    def _wait(self, before: _Scan) -> tuple[_Scan, set[str]]:
        """Wait until a file has changed, and no file changes any more: editors write several times."""
        while True:
            start = time.monotonic()
            time.sleep(self._limits.watch_pause)
            now = self._scan()
            if before.differing(now):
                now = self._settle(now)
            changed = {path for path in self._candidates(before, now) if self._is_new(path)}
            if changed:
                return now, changed
            before = now
            time.sleep(max(0.0, (_LOOKS - 1) * (time.monotonic() - start - self._limits.watch_pause)))

    def _since_compile(self, before: _Scan) -> tuple[_Scan, set[str]]:
        """Return the changes since the compile began, including reverted ones.

        A file that was written, but has its old content, may have been edited and restored, unless its read is
        recorded. Or the compile writes it itself: then this happens in every compile that it causes.
        """
        now = self._scan()
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

    def _candidates(self, before: _Scan, now: _Scan) -> set[str]:
        """Return the files that may have changed: with another signature, or too fresh for a reliable one."""
        return before.differing(now) | before.fresh

    def _is_new(self, path: str) -> bool:
        """Return True if the content of a file has changed, and remember it."""
        known, self._contents[path] = self._contents.get(path, b""), _content(path)
        return self._contents[path] != known

    def _settle(self, now: _Scan) -> _Scan:
        for _ in range(_RESTLESS):
            time.sleep(self._limits.watch_settled)
            later = self._scan()
            if not now.differing(later):
                break
            now = later
        return now

    def _disregard_fetched(self, before: _Scan) -> None:
        """Treat files in new folders of fetched dependencies as if they had always existed."""
        if not self._fetching:
            return
        now = self._scan()
        for path in now.files.keys() - before.files.keys() - now.elsewhere:
            folder = os.path.dirname(path)
            if folder in now.folders and folder not in before.folders:
                self._begin_with(path, before, now)
        before.folders |= now.folders

    def _begin_with_reads(self, before: _Scan) -> None:
        """Watch the inputs from now on; changes since they were read are determined by the record of the reads."""
        if self._reads is None:
            return
        now = self._scan()
        for path in before.elsewhere - now.elsewhere:
            before.files.pop(path, None)
        for path in now.elsewhere - before.elsewhere - before.files.keys():
            self._begin_with(path, before, now)
        before.elsewhere = now.elsewhere
        self._own |= {path for path in now.files if lies_in(path, *self._reads.written)}

    def _begin_with(self, path: str, before: _Scan, now: _Scan) -> None:
        if path in now.files:
            before.files[path] = now.files[path]
        self._contents[path] = _content(path)

    def _scan(self) -> _Scan:
        scan = _Scan()
        settled = time.time_ns() - int(self._limits.settled_seconds * 1e9)
        noise = _NOISE_IN_TREES if self._sources.hidden else _NOISE
        self._walk(
            [str(path) for path in self._sources.roots], noise, {str(path) for path in self._sources.excluded}, scan
        )
        if self._reads is not None:
            self._scan_elsewhere(self._reads, scan)
        scan.fresh = {path for path, signature in scan.files.items() if max(signature[1::_FIELDS]) >= settled}
        return scan

    def _scan_elsewhere(self, reads: Reads, scan: _Scan) -> None:
        """Scan the inputs that were not scanned yet."""
        others = _Scan()
        for folder, excluded in reads.folders.items():
            self._walk([folder], _NOISE_IN_TREES, set(excluded), others)
        for path in (*self._elsewhere, *(hit for pattern in reads.patterns for hit in glob.glob(pattern))):
            signature = _signature(path)
            if signature is not None:
                others.files[path] = signature
        output = [str(path) for path in self._sources.output]
        scan.elsewhere = {path for path in (*self._elsewhere, *others.files) if path not in scan.files}
        scan.elsewhere = {path for path in scan.elsewhere if not lies_in(path, *output)}
        scan.files |= {path: others.files[path] for path in scan.elsewhere if path in others.files}

    def _walk(self, places: list[str], noise: re.Pattern[str], excluded: set[str], scan: _Scan) -> None:
        seen: set[tuple[int, int]] = set()
        pending = places[::-1]
        while pending:
            place = pending.pop()
            try:
                if place in places:
                    _note(scan, place)
                status = os.stat(place)
                if not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in seen:
                    continue
                seen.add((status.st_dev, status.st_ino))
                scan.folders.add(place)
                pending += _enter(place, noise, excluded, scan)
            except OSError:  # removed meanwhile, or unreadable: a compile cannot use it either
                continue
            if len(scan.files) > self._limits.watched_files:
                raise InputError(
                    "CMD-WATCH-001",
                    f"more than {self._limits.watched_files} files to watch",
                    hint="check for a folder that is too large by mistake",
                    locations=[str(root) for root in self._sources.roots],
                )


def _enter(place: str, noise: re.Pattern[str], excluded: set[str], scan: _Scan) -> list[str]:
    """Add a folder's files and links; returns its folders."""
    folders = []
    for entry in children(place):
        if noise.fullmatch(entry.name) or entry.path in excluded:
            continue
        if entry.is_dir():
            folders.append(entry.path)
        if entry.is_symlink() or entry.is_file():
            _note(scan, entry.path)
    return folders[::-1]


def _note(scan: _Scan, path: str) -> None:
    """Add a file, or a link with its target. For a folder, add its contents."""
    signature = _signature(path)
    if signature is not None and signature != _FOLDER:
        scan.files[path] = signature


def _signature(path: str) -> _Signature | None:
    """Return a value that changes with the file; for a link also with its target."""
    try:
        status = os.lstat(path)
        if not stat.S_ISLNK(status.st_mode):
            return _fields(status)
        try:
            return *_fields(status), *_fields(os.stat(path))
        except OSError:  # dangling link
            return _fields(status)
    except (OSError, ValueError):
        return None


def _fields(status: os.stat_result) -> _Signature:
    if stat.S_ISDIR(status.st_mode):
        return _FOLDER
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev, status.st_mode


def _content(path: str) -> bytes:
    """Return everything a compile can see of a file: its bytes, its mode, the target of a link. Empty if it
    is missing.
    """
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
    """Return the files below some folders, by path with the folder's name in front. Links are not followed.

    Args:
        folders: folders by name; missing ones are empty.

    Raises:
        EnvironmentFault: a file cannot be read.
    """
    contents: dict[str, bytes] = {}
    for name, folder in folders.items():
        with guard_disk(folder):
            for inner, path in files(folder):
                contents[f"{name}/{inner}"] = path.read_bytes()
    return dict(sorted(contents.items()))
