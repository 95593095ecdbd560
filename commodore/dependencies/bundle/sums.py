"""The sum of a package as lock files hold it, and the stricter digest by which exports are verified."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Measure:
    """What a folder holds.

    `sum` is jsonnet-bundler's: base64 of a SHA-256 over the contents alone. `digest` (hex SHA-256) also covers names,
    kinds, the executable bit and the targets of links. `files` and `bytes` count regular files.
    """

    sum: str
    digest: str
    files: int
    bytes: int


def measure(folder: Path, copy_to: Path | None = None) -> Measure:
    """Measure the folder; with `copy_to` (which must not exist yet) also copy it there, reading every file once.

    Links are copied as links, files with mode 0644 or 0755: a copy never shares its content with the original, so that
    writing to it cannot reach the original.

    Raises:
        OSError: something cannot be read or written.
    """
    contents, everything = hashlib.sha256(), hashlib.sha256()
    files = size = 0
    root = os.fsencode(copy_to) + b"/" if copy_to is not None else b""
    if root:
        os.makedirs(root, mode=0o755)
    for name, entry in _walk(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            kind, detail = b"l", os.readlink(entry.path)
            if root:
                os.symlink(detail, root + name)
        elif stat.S_ISDIR(mode):
            kind, detail = b"d", b""
            if root:
                os.mkdir(root + name, 0o755)
        elif stat.S_ISREG(mode):
            with open(entry.path, "rb", buffering=0) as file:
                data = file.read()
            contents.update(data)
            executable = bool(mode & stat.S_IXUSR)
            kind, detail = (b"x" if executable else b"f"), hashlib.sha256(data).digest()
            files, size = files + 1, size + len(data)
            if root:
                _write(root + name, data, 0o755 if executable else 0o644)
        else:
            continue
        everything.update(b"%s%d:%s%d:%s" % (kind, len(name), name, len(detail), detail))
    return Measure(base64.b64encode(contents.digest()).decode(), everything.hexdigest(), files, size)


def _write(path: bytes, data: bytes, mode: int) -> None:
    """Write a new file whose mode does not depend on the umask."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(handle, "wb", buffering=0) as file:
        os.fchmod(handle, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]


def sum_of(folder: Path) -> str:
    """jsonnet-bundler's sum of the package in `folder`, as lock files hold it."""
    return measure(folder).sum


def signature(folder: Path, skip: Path) -> str:
    """A cheap fingerprint (hex SHA-256) of names, kinds, modes, sizes, times and link targets below `folder`. The time
    of change of a file tells of edits that keep its size and its time of modification.

    It tells whether anybody has touched the folder since; contents are not read, and the file `skip` does not count.
    """
    seen = hashlib.sha256()
    unseen = os.fsencode(skip)
    for name, entry in _walk(folder):
        if entry.path == unseen:
            continue
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            detail = os.fsencode(os.readlink(entry.path))
        elif stat.S_ISREG(status.st_mode):
            times = (status.st_mtime_ns, status.st_ctime_ns)
            detail = b"%d/%d/%d/%o" % (status.st_size, *times, status.st_mode)
        else:
            detail = b""
        seen.update(b"%o:%d:%s%d:%s" % (stat.S_IFMT(status.st_mode), len(name), name, len(detail), detail))
    return seen.hexdigest()


def _walk(folder: Path) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """Every entry below `folder` with its path from there: depth first, each folder in byte order of its names."""
    pending = [iter(_entries(os.fsencode(folder)))]
    prefixes = [b""]
    while pending:
        entry = next(pending[-1], None)
        if entry is None:
            pending.pop()
            prefixes.pop()
            continue
        name = prefixes[-1] + entry.name
        yield name, entry
        if entry.is_dir(follow_symlinks=False):
            pending.append(iter(_entries(entry.path)))
            prefixes.append(name + b"/")


def _entries(folder: bytes) -> list[os.DirEntry[bytes]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)
