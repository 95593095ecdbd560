"""The store of results: rendered files of instances, and of parts of them, by their inputs.

A subject is the digest of an instance or a part with everything that is fixed before it is rendered. Below
`<root>/<subject>/` are two kinds of files:

* `shapes/<digest>.json`: a shape, the list of inputs that one rendering has read. A subject has few shapes.
* `<digest>.result`: the rendered files, named by a shape and the digests of its inputs.

Every file is created by a rename, complete, and may be replaced. It is sealed with its subject and its name: a damaged
file, or one of another result, counts as missing. It is readable by this user only. Several processes may read and
write at the same time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import EnvironmentFault
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.files.tree import children, walk
from commodore.base.files.workspace import make_private, write_atomically
from commodore.base.limits import Limits
from commodore.core.results.caches.entry_store import HEX, Store, StoredEntry, digest_folders

Key = tuple[str, ...]
"""An input that was read: the name of its kind, and its name."""

FOLDER_MODE = 0o755
"""The mode of the folders that a run creates, independent of the umask."""

_SHAPES = "shapes"


@dataclass(frozen=True, slots=True)
class Result:
    """The rendered files of an instance.

    Args:
        files: the paths in its folder, each with its mode and content; a folder has None for content, a link its
        target as text.
        traces: the output of `std.trace` in its Jsonnet files, line by line.
        mode: the mode of the folder itself.
        warnings: allowed errors, which are reported each time: code, message and hint.
        outside: files outside of the folder, each with the portable form of its path, mode and content.
    """

    files: tuple[tuple[str, int, bytes | str | None], ...]
    traces: tuple[str, ...] = ()
    mode: int = FOLDER_MODE
    outside: tuple[tuple[str, int, bytes], ...] = ()
    warnings: tuple[tuple[str, str, str], ...] = ()

    @property
    def has_files(self) -> bool:
        """Return True if there is more than folders."""
        return any(content is not None for _, _, content in self.files)

    def differences(self, other: Result) -> list[str]:
        """Return the paths in which two results differ."""
        ours, theirs = ({path: rest for path, *rest in result.files} for result in (self, other))
        paths = sorted(path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path))
        return [".", *paths] if self.mode != other.mode else paths

    def mentions(self, folders: Iterable[str]) -> bool:
        """Check if the path of one of these folders occurs in a file, a link, a name, or a message."""
        encoded = [os.fsencode(folder) for folder in folders]
        messages = os.fsencode("\n".join([*self.traces, *(text for warning in self.warnings for text in warning)]))
        if any(folder in messages for folder in encoded):
            return True
        for name, _, content in (*self.files, *self.outside):
            text = os.fsencode(content) if isinstance(content, str) else content or b""
            if any(folder in text or folder in os.fsencode(name) for folder in encoded):
                return True
        return False


@dataclass(frozen=True, slots=True)
class ResultAddress:
    """The address of a result in the store: its subject, the digest of its shape, and its name."""

    subject: str
    shape: str
    name: str


def shape_of(keys: Sequence[Key]) -> str:
    """Return the digest of a list of inputs."""
    return hashlib.sha256(json.dumps(keys).encode()).hexdigest()


def result_name(shape: str, digests: Sequence[str]) -> str:
    """Return the name of the result of a rendering that has read the inputs of a shape with these digests."""
    return hashlib.sha256(json.dumps([shape, *digests]).encode()).hexdigest()


def read_folder(folder: Path, traces: Sequence[str] = ()) -> Result | None:
    """Read an instance's rendered folder; None if it contains anything but files, folders and links."""
    files: list[tuple[str, int, bytes | str | None]] = []
    for name, entry in walk(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            files.append((name, 0, os.readlink(entry.path)))
        elif stat.S_ISDIR(mode):
            files.append((name, stat.S_IMODE(mode), None))
        elif stat.S_ISREG(mode):
            files.append((name, stat.S_IMODE(mode), Path(entry.path).read_bytes()))
        else:
            return None
    return Result(tuple(files), tuple(traces), stat.S_IMODE(folder.lstat().st_mode))


def write_folder(result: Result, folder: Path) -> None:
    """Write a result to an instance's folder, which must not exist."""
    folder.mkdir(parents=True)
    root = str(folder)
    folders: list[tuple[str, int]] = [(root, result.mode)]
    for name, mode, content in result.files:
        path = f"{root}/{name}"
        if content is None:
            os.mkdir(path)
            folders.append((path, mode))
        elif isinstance(content, str):
            os.symlink(content, path)
        else:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)  # independent of the umask
    for path, mode in reversed(folders):  # at the end: a folder may be read-only
        os.chmod(path, mode)


def holds(folder: Path, result: Result) -> bool:
    """Check if a folder has exactly the files of a result, with the same modes."""
    expected = {name: (mode, content) for name, mode, content in result.files}
    count = 0
    try:
        if stat.S_IMODE(os.lstat(folder).st_mode) != result.mode:
            return False
        for name, entry in walk(folder):
            if name not in expected or not _is_same(entry, *expected[name]):
                return False
            count += 1
    except OSError:
        return False
    return count == len(expected)


def _is_same(entry: os.DirEntry[str], mode: int, content: bytes | str | None) -> bool:
    if isinstance(content, str):
        return entry.is_symlink() and os.readlink(entry.path) == content
    status = entry.stat(follow_symlinks=False)
    if stat.S_IMODE(status.st_mode) != mode:
        return False
    if content is None:
        return stat.S_ISDIR(status.st_mode)
    if not stat.S_ISREG(status.st_mode) or status.st_size != len(content):
        return False
    with open(entry.path, "rb") as file:
        return file.read() == content


class ResultStore(Store):
    """The store of results. Errors of the disk count as missing results."""

    def __init__(self, root: Path, limits: Limits) -> None:
        super().__init__("results", root, limits)

    def shapes(self, subject: str) -> Iterator[tuple[str, tuple[Key, ...]]]:
        """Yield the shapes of a subject, the most recently used first: the shape's digest and its keys."""
        folder = self._subject(subject) / _SHAPES
        with contextlib.suppress(OSError):
            entries = [(entry.stat().st_mtime_ns, entry.name) for entry in children(folder)]
            for _, name in sorted(entries, reverse=True):
                content = _read(folder / name)
                if content is not None:
                    yield name.removesuffix(".json"), tuple(tuple(key) for key in json.loads(content))

    def find(self, subject: str, shape: str, digests: Sequence[str]) -> Result | None:
        """Return the result of a rendering that has read the inputs of a shape with these digests, or None."""
        place = self._result(subject, shape, digests)
        content = _read(place)
        if content is None:
            return None
        with contextlib.suppress(OSError):  # the least recently used results are pruned first
            os.utime(place)
            os.utime(self._subject(subject) / _SHAPES / f"{shape}.json")
        return _unpack(content)

    def add(self, subject: str, inputs: Mapping[Key, str], result: Result) -> ResultAddress | None:
        """Add a result with the digests of its inputs. Returns None if it is too large, or the disk refuses."""
        if sum(len(content or b"") for _, _, content in (*result.files, *result.outside)) > self.limits.result_bytes:
            return None
        return self._keep(subject, inputs, _pack(result))

    def adopt(self, subject: str, inputs: Mapping[Key, str], content: bytes) -> None:
        """Add a result of another machine, packed by its store. An unreadable one is ignored."""
        with contextlib.suppress(ValueError, TypeError, AttributeError, LookupError, RecursionError):
            if _is_plain(_unpack(content)):
                self._keep(subject, inputs, content)

    def _keep(self, subject: str, inputs: Mapping[Key, str], content: bytes) -> ResultAddress | None:
        keys = sorted(inputs)
        text = json.dumps(keys).encode()
        shape = shape_of(keys)
        place = self._subject(subject)
        with contextlib.suppress(OSError, EnvironmentFault):
            make_private(place / _SHAPES)
            name = result_name(shape, [inputs[key] for key in keys])
            _write(place / f"{name}.result", content)
            if _read(place / _SHAPES / f"{shape}.json") != text:  # damaged, or not there yet
                _write(place / _SHAPES / f"{shape}.json", text)
            return ResultAddress(subject, shape, name)
        return None

    def read_packed(self, address: ResultAddress) -> tuple[tuple[Key, ...], bytes] | None:
        """Return the keys of a result's inputs, and the packed content for `adopt`; None if it was removed."""
        place = self._subject(address.subject)
        shape, content = _read(place / _SHAPES / f"{address.shape}.json"), _read(place / f"{address.name}.result")
        if shape is None or content is None:
            return None
        return tuple(tuple(key) for key in json.loads(shape)), content

    def forget(self, subject: str, shape: str, digests: Sequence[str]) -> None:
        """Remove a result that is wrong."""
        with contextlib.suppress(OSError):
            self._result(subject, shape, digests).unlink()

    def _subject(self, subject: str) -> Path:
        return self.root / subject[:2] / subject

    def _result(self, subject: str, shape: str, digests: Sequence[str]) -> Path:
        return self._subject(subject) / f"{result_name(shape, digests)}.result"

    # Maintenance

    def entries(self) -> Iterator[StoredEntry]:
        for subject in digest_folders(self.root):
            for path, status in _plain_files(subject):
                if path.suffix == ".result" and HEX.fullmatch(path.stem):
                    yield StoredEntry(path, status.st_size, status.st_mtime)

    def others(self) -> Iterator[Path]:
        for subject in digest_folders(self.root):
            yield from (path for path, _ in _plain_files(subject / _SHAPES) if path.suffix == ".json")

    def is_sound(self, path: Path) -> bool:
        return _read(path) is not None

    def tidy(self) -> None:
        """Remove shapes without a result, and half-written files of killed runs."""
        for subject in list(digest_folders(self.root)):
            for path, status in (*_plain_files(subject), *_plain_files(subject / _SHAPES)):
                if path.name.startswith(".") and time.time() - status.st_mtime > self.limits.staging_age:
                    with contextlib.suppress(OSError):
                        path.unlink()
            if any(path.suffix == ".result" for path, _ in _plain_files(subject)):
                continue
            with contextlib.suppress(OSError):  # another run may be about to keep a result there
                for path, _ in _plain_files(subject / _SHAPES):
                    path.unlink()
                for folder in (subject / _SHAPES, subject, subject.parent):
                    folder.rmdir()


def _is_plain(result: Result) -> bool:
    """Check that the paths of a result stay in one folder and are in an order in which they can be written, and that no
    mode has a set-user-ID, set-group-ID or sticky bit.
    """
    folders = {"."}
    seen: set[str] = set()
    for name, mode, content in result.files:
        parent, _, last = f"./{name}".rpartition("/")
        if parent not in folders or last in ("", ".", "..") or "\0" in name or name in seen or mode & ~0o777:
            return False
        seen.add(name)
        if content is None:
            folders.add(f"./{name}")
    return not result.mode & ~0o777 and all(mode & ~0o777 == 0 for _, mode, _ in result.outside)


def _plain_files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the files in a folder, without links; none if it is missing or a link itself."""
    files = []
    with contextlib.suppress(OSError):
        for entry in children(folder) if not folder.is_symlink() else ():
            if entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):  # it was removed meanwhile
                    files.append((Path(entry.path), entry.stat(follow_symlinks=False)))
    return files


def _read(path: Path) -> bytes | None:
    """Return the content of a file of the store; None if it is missing, damaged, or belongs to another path."""
    return read_sealed(path, _label(path))


def _write(path: Path, content: bytes) -> None:
    write_atomically(path, seal(_label(path), content), 0o600)  # manifests may hold passwords


def _label(path: Path) -> tuple[str, str, str]:
    """Return the label of a file of the store, derived from its path: kind, subject, name."""
    if path.parent.name == _SHAPES:
        return "shape", path.parent.parent.name, path.stem
    return "result", path.parent.name, path.stem


def _pack(result: Result) -> bytes:
    """Pack a result: a line of JSON with the table of files, then their contents one after another."""
    table: list[list[Any]] = []
    contents: list[bytes] = []
    for name, mode, content in result.files:
        if isinstance(content, bytes):
            table.append([name, mode, len(content)])
            contents.append(content)
        else:
            table.append([name, mode, content])
    outside = [[name, mode, len(content)] for name, mode, content in result.outside]
    contents += [content for _, _, content in result.outside]
    head = [table, result.traces, result.mode, outside, result.warnings]
    return json.dumps(head).encode() + b"\n" + b"".join(contents)


def _unpack(content: bytes) -> Result:
    head, _, _ = content.partition(b"\n")
    table, traces, folder_mode, elsewhere, *more = json.loads(head)  # earlier versions kept no warnings
    files: list[tuple[str, int, bytes | str | None]] = []
    position = len(head) + 1
    for name, mode, what in table:
        if isinstance(what, int):
            files.append((name, mode, content[position : position + what]))
            position += what
        else:
            files.append((name, mode, what))
    outside: list[tuple[str, int, bytes]] = []
    for name, mode, size in elsewhere:
        outside.append((name, mode, content[position : position + size]))
        position += size
    allowed = tuple((code, message, hint) for warnings in more for code, message, hint in warnings)
    return Result(tuple(files), tuple(traces), folder_mode, tuple(outside), allowed)
