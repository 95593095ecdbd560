"""Folders with their contents: walked in a fixed order, digested and copied by the same rules."""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

Entry = os.DirEntry[str]
Skip = Callable[[Entry], bool]
"""Returns True for entries to leave out, with everything below them."""

_CHUNK = 1 << 20


def walk(
    folder: str | os.PathLike[str], *, follow: bool = False, skip: Skip | None = None
) -> Iterator[tuple[str, Entry]]:
    """Yield everything below a folder with its relative path: depth first, each folder in the byte order of its names
    and before its contents. A folder is read only after the caller has continued. A missing folder is empty.

    Args:
        follow: follow links to folders, except for links that lead back to the current path.

    Raises:
        OSError: a folder cannot be read.
    """
    root = os.fspath(folder)
    pending = [("", iter(children(root)))]
    inside = [os.path.realpath(root)] if follow else []
    while pending:
        prefix, entries = pending[-1]
        entry = next(entries, None)
        if entry is None:
            pending.pop()
            inside[-1:] = []
            continue
        if skip is not None and skip(entry):
            continue
        name = prefix + entry.name
        yield name, entry
        if not is_folder(entry, follow=follow):
            continue
        if follow:
            real = os.path.realpath(entry.path)
            if real in inside:
                continue
            inside.append(real)
        pending.append((f"{name}/", iter(children(entry.path))))


def is_folder(entry: Entry, *, follow: bool) -> bool:
    """Return True for a folder, or with `follow` for a link to a folder that is not circular."""
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def children(folder: str | os.PathLike[str]) -> list[Entry]:
    """Return the entries of a folder, in the byte order of names; empty if it is missing.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_by_name)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _by_name(entry: Entry) -> bytes:
    return os.fsencode(entry.name)


def files(
    folder: str | os.PathLike[str], *, skip: Skip | None = None, links: bool = False
) -> Iterator[tuple[str, Path]]:
    """Yield the plain files below a folder by relative path, in the order of `walk`. Links are not followed.

    Args:
        links: include links, whatever their targets.

    Raises:
        OSError: a folder cannot be read.
    """
    for name, entry in walk(folder, skip=skip):
        if (links and entry.is_symlink()) or entry.is_file(follow_symlinks=False):
            yield name, Path(entry.path)


def lies_in(path: str, *folders: str) -> bool:
    """Return True if a path is one of these folders or lies in one, as spelled: no link is followed."""
    return any(
        path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep) for folder in folders
    )


def is_hidden(entry: Entry) -> bool:
    """Return True for a name with a leading dot."""
    return entry.name.startswith(".")


def size_of(path: Path) -> int:
    """Return the size of a file, or of all readable files below a folder. Links are not followed."""
    total = 0
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            return path.lstat().st_size
        for _, entry in walk(path):
            if not entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):  # removed meanwhile
                    total += entry.stat(follow_symlinks=False).st_size
    return total


class Refused(OSError):
    """A tree that is not measured: it is too large, or holds entries other than files, folders and links."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of measuring and copying a tree.

    Args:
        exact: include all mode bits, which a copy keeps together with the times. Otherwise only the execute bit counts,
            a copy is readable for all, and entries other than files, folders and links are left out.
        skip: the entries to leave out.
        entries, bytes: the greatest numbers; None for any number.
    """

    exact: bool = False
    skip: Skip | None = None
    entries: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """The measure of a folder.

    Args:
        digest: hex SHA-256 of names, kinds, modes as the rules say, contents, and targets of links.
        files, bytes: the number and the total size of regular files.
        sum: the `sum` of jsonnet-bundler: base64 of a SHA-256 of the contents alone; empty for an exact measure.
    """

    digest: str
    files: int
    bytes: int
    sum: str


def measure(folder: Path, copy_to: Path | None = None, rules: Rules | None = None) -> Measure:
    """Measure a folder; with `copy_to`, which must not exist yet, also copy it there, reading every file once.

    Links are copied as links. A copy never shares its content with the original.

    Raises:
        Refused: the rules exclude it.
        OSError: a file is missing, or cannot be read or written.
    """
    measuring = _Measuring(rules or Rules())
    root = os.stat(folder)
    if not stat.S_ISDIR(root.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if copy_to is not None:
        copy_to.parent.mkdir(parents=True, exist_ok=True)
    measuring.add("", str(folder), root, str(copy_to) if copy_to is not None else None)
    for name, entry in walk(folder, skip=measuring.rules.skip):
        target = f"{copy_to}/{name}" if copy_to is not None else None
        measuring.add(name, entry.path, entry.stat(follow_symlinks=False), target)
    return measuring.conclude()


class _Measuring:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._everything = hashlib.sha256()
        self._contents = None if rules.exact else hashlib.sha256()
        self._files = self._bytes = self._entries = 0
        self._folders: list[tuple[str, str]] = []

    def add(self, name: str, path: str, status: os.stat_result, target: str | None) -> None:
        kind, detail, mode = "f", b"", status.st_mode
        if stat.S_ISLNK(mode):
            link = os.readlink(path)
            kind, detail = "l", os.fsencode(link)
            if target is not None:
                os.symlink(link, target)
        elif stat.S_ISDIR(mode):
            kind = "d"
            if target is not None:
                os.mkdir(target, 0o755)
                self._folders.append((path, target))
        elif stat.S_ISREG(mode):
            detail = self._file(path, target, 0o755 if mode & stat.S_IXUSR else 0o644)
        elif self.rules.exact:
            raise Refused(errno.EINVAL, "neither a file, a folder nor a link", path)
        else:
            return
        self._count(1, 0)
        if self.rules.exact and kind != "l":
            kind += f"{stat.S_IMODE(mode):o}"
        elif kind == "f" and mode & stat.S_IXUSR:
            kind = "x"
        named = os.fsencode(name)
        self._everything.update(b"%s%d:%s%d:%s" % (kind.encode(), len(named), named, len(detail), detail))

    def _file(self, source: str, target: str | None, mode: int) -> bytes:
        """Read a file, and copy it. Returns its digest."""
        digest = hashlib.sha256()
        self._files += 1
        with open(source, "rb", buffering=0) as reader, _create(target, mode) as writer:
            while chunk := reader.read(_CHUNK):
                self._count(0, len(chunk))
                digest.update(chunk)
                if self._contents is not None:
                    self._contents.update(chunk)
                if writer is not None:
                    writer.write(chunk)
        if target is not None and self.rules.exact:
            shutil.copystat(source, target)
        return digest.digest()

    def _count(self, entries: int, size: int) -> None:
        self._entries += entries
        self._bytes += size
        for count, most in ((self._entries, self.rules.entries), (self._bytes, self.rules.bytes)):
            if most is not None and count > most:
                raise Refused(errno.EFBIG, os.strerror(errno.EFBIG))

    def conclude(self) -> Measure:
        for source, target in reversed(self._folders) if self.rules.exact else ():  # a folder may be read-only
            shutil.copystat(source, target)
        total = base64.b64encode(self._contents.digest()).decode() if self._contents is not None else ""
        return Measure(self._everything.hexdigest(), self._files, self._bytes, total)


def _create(path: str | None, mode: int) -> contextlib.AbstractContextManager[BinaryIO | None]:
    """Open a new file with a mode independent of the umask; None without a path."""
    if path is None:
        return contextlib.nullcontext()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    os.fchmod(handle, mode)
    return open(handle, "wb")


def add_times(times: Any, path: str) -> None:
    """Add the change time of a path, and its target if it is a link, to a hash (if any). Every write to a file or
    folder changes it, even if the same content is written back.
    """
    if times is None:
        return
    for look in (os.lstat, os.stat):
        try:
            status = look(path)
        except OSError as error:
            times.update(f"{error.errno}\n".encode())
        else:
            times.update(f"{status.st_dev} {status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns}\n".encode())
