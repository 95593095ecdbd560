"""Names of paths that are valid in every working directory, and digests of files, folders and values."""

from __future__ import annotations

import glob
import hashlib
import marshal
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from commodore.base.files.tree import Entry, add_times, lies_in, walk
from commodore.core.engine.tasks import BatchRun
from commodore.core.results.result_store import FOLDER_MODE

MISSING = "missing"
FOLDER = "folder"
UNREADABLE = "unreadable"
_ABSENT = "absent"
_OWN = "own"
_APART = ("refs", _OWN)
_CLUSTER_REFS = "cluster-refs"


class PortablePaths:
    """Names paths relative to known folders, so that a record of inputs is valid in another working directory, too.

    Args:
        roots: folders by name; a path is named by the longest folder that contains it.
        own: the working folder of the run; its files result from recorded inputs.
        installed: folders of the installation, whose files do not change with the same version.
        cluster_refs: the folder for ref files of one cluster only. Only `ref_file` uses it.
    """

    def __init__(
        self,
        roots: Mapping[str, Path],
        own: Iterable[Path],
        installed: Iterable[Path] = (),
        cluster_refs: Path | None = None,
    ) -> None:
        self._cluster_refs = None if cluster_refs is None else os.path.normpath(cluster_refs)
        self._by_name = {name: os.path.normpath(path) for name, path in roots.items()}
        spelt = {(name, spelling) for name, path in self._by_name.items() for spelling in _spellings(path)}
        self._roots = sorted(spelt, key=lambda root: (-len(root[1]), root[0]))
        self._installed = tuple(os.path.normpath(path) for path in installed)
        self._own = (*(spelling for path in own for spelling in _spellings(os.path.normpath(path))), *self._installed)

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of the run, without its own temporary ones."""
        return tuple(sorted({path for name, path in self._roots if name not in _APART}))

    @property
    def temporary(self) -> tuple[str, ...]:  # runs in workers
        """Return the working folder of the run, if it has a name."""
        return tuple(path for name, path in self._roots if name == _OWN)

    @property
    def layout(self) -> tuple[tuple[str, str], ...]:
        """Return the relative positions of the folders, without the refs, as only references point there. A relative
        path from one folder into another is valid only while they are the same.
        """
        known = sorted(self._by_name.items(), key=lambda root: (-len(root[1]), root[0]))
        known = [(name, path) for name, path in known if name not in _APART]
        layout = []
        for name, path in known:
            around = ((other, folder) for other, folder in known if other != name and lies_in(path, folder))
            other, folder = next(around, ("", path))
            layout.append((name, f"{other}:{os.path.relpath(path, folder)}"))
        return tuple(sorted(layout))

    def is_installed(self, path: str) -> bool:
        """Check if a file belongs to the installation."""
        return lies_in(path, *self._installed)

    @classmethod
    def of(cls, run: BatchRun, instance: str, installed: Sequence[Path], *, whole: bool = True) -> PortablePaths:
        """Return the paths of an instance: its component, the output folder, the references, the working directory.

        Args:
            whole: for a record of the whole instance, which does not need its own generated files; a record of a part
                has names for them as well.
        """
        request = run.request
        roots = {
            "component": run.jobs[instance].directory,
            "refs": request.refs,
            "output": request.output,
            "root": request.root,
            "directory": request.directory or request.root,
        }
        if whole:
            return cls(roots, (run.workplace(instance),), installed, request.cluster_refs)
        return cls({**roots, _OWN: run.workplace(instance)}, (), installed)  # runs in workers

    def name(self, path: str | os.PathLike[str]) -> str | None:
        """Return the name of an absolute path; None for a path that is not recorded."""
        path = os.path.normpath(path)
        if lies_in(path, *self._own):
            return None
        for name, folder in self._roots:
            if lies_in(path, folder):
                return f"{name}:{path[len(folder) :].lstrip(os.sep)}"
        return f":{path}"

    @property
    def cluster_refs(self) -> str | None:
        """Return the name of the folder for ref files of the cluster, which other clusters do not have."""
        return None if self._cluster_refs is None else self.name(self._cluster_refs)

    def ref_file(self, path: str) -> str | None:
        """Return the name of a ref file. It is the same for all clusters if it is in the cluster's own folder: then
        `cluster_refs` has to be recorded as well.
        """
        if self._cluster_refs is not None and lies_in(path, self._cluster_refs):
            return f"{_CLUSTER_REFS}:{os.path.relpath(path, self._cluster_refs)}"
        return self.name(path)

    def of_this_cluster(self, name: str) -> str:
        """Convert a name of `ref_file` that is the same for all clusters to that of this cluster's
        file, as of `name`.
        """
        is_ref = name.startswith(f"{_CLUSTER_REFS}:")
        return (self.name(self.path(name)) or name) if is_ref else name

    def path(self, name: str) -> str:
        """Return the path of a name."""
        root, _, rest = name.partition(":")
        if root == _CLUSTER_REFS and self._cluster_refs is not None:
            return os.path.join(self._cluster_refs, rest)
        return os.path.join(self._by_name[root], rest) if root else rest

    def pattern(self, name: str) -> str:
        """Return the path of a pattern's name. Special characters in the path of the root are escaped."""
        root, _, rest = name.partition(":")
        return os.path.join(glob.escape(self._by_name[root]), rest) if root else rest

    def portable(self, text: str) -> str:
        """Replace the folders in a text by their names, in a form that no path can contain."""
        for folder in self._own:
            text = _replace(text, folder, "own")
        for name, folder in self._roots:
            text = _replace(text, folder, name)
        return text


def _spellings(path: str) -> set[str]:
    """Return a folder's path as given and with links in its parents resolved, as some programs do. If the folder is a
    link itself, its target does not belong to it.
    """
    parent, name = os.path.split(path)
    return {path, os.path.join(os.path.realpath(parent), name)} if name else {path}


def _replace(text: str, folder: str, name: str) -> str:
    """Replace a folder in a text, only whole names: `/work/one` is not a part of `/work/one-more`
    or `/old/work/one`.
    """
    if folder not in text:
        return text
    return re.sub(rf"(?<![^\s:;,='\"(]){re.escape(folder)}(?![^\s:;,'\")/])", lambda _: f"\0{name}\0", text)


def value_digest(value: Any) -> str:
    """Return the digest of plain data. The order of keys and the types of numbers matter."""
    return hashlib.sha256(marshal.dumps(value, 2)).hexdigest()


def value_at(node: Mapping[str, Any], path: Sequence[str]) -> str:
    """Return the digest of a node's value at a path of keys, or `absent`."""
    value: Any = node
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _ABSENT
        value = value[key]
    return value_digest(value)


def names_at(node: Mapping[str, Any], path: Sequence[str]) -> str:
    """Return the digest of the keys of a node's map at a path; of its type if it is not a map."""
    value: Any = node
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _ABSENT
        value = value[key]
    return value_digest(sorted(map(str, value)) if isinstance(value, dict) else type(value).__name__)


def kind_of(path: str) -> str:
    """Return the kind of a path: file, folder, broken link or missing."""
    if os.path.isdir(path):
        return FOLDER
    if os.path.exists(path):
        return "file"
    return "link" if os.path.lexists(path) else MISSING


def file_digest(path: str) -> str:
    """Return the digest of a file's content, or a word for anything but a readable file."""
    try:
        handle = os.open(
            path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        )  # non-blocking: does not wait for a pipe's writer
        try:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                return FOLDER if stat.S_ISDIR(mode) else UNREADABLE
            with open(handle, "rb", closefd=False) as file:
                return hashlib.sha256(file.read()).hexdigest()
        finally:
            os.close(handle)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError:
        return UNREADABLE


def matches(pattern: str, unless: Callable[[str], bool]) -> list[str]:
    """Return the paths that match a pattern, sorted, without the excluded ones."""
    return sorted(hit for hit in glob.glob(pattern) if not unless(hit))


def tree_digest(
    path: str, unless: Callable[[str], bool] = lambda _: False, *, modes: bool = False, times: Any = None
) -> str:
    """Return the digest of a folder with all its files: names, kinds, contents, targets of links, executable bits.

    Args:
        unless: returns True for paths to exclude.
        modes: include all bits of the modes of files and folders, for copies.
        times: a hash to update with the modification times of all files, each taken before the file is read.
    """
    add_times(times, path)
    if not os.path.isdir(path):
        digest = file_digest(path)
        mode = _mode(os.stat(path), modes) if os.path.exists(path) else "0"
        return f"{digest} {mode}" if digest != UNREADABLE else digest
    hasher = hashlib.sha256()
    try:
        _add_folder(hasher, "", os.stat(path).st_mode, modes)
        for name, entry in walk(path, follow=True, skip=lambda entry: unless(entry.path)):
            add_times(times, entry.path)
            _add_entry(hasher, name, entry, modes)
    except OSError:
        return UNREADABLE
    return hasher.hexdigest()


def empty_digest(*, modes: bool = False) -> str:
    """Return the digest of an empty folder as a run creates it."""
    hasher = hashlib.sha256()
    _add_folder(hasher, "", FOLDER_MODE, modes)
    return hasher.hexdigest()


def _add_entry(hasher: Any, name: str, entry: Entry, modes: bool) -> None:
    """Add an entry of a tree, including the target of a link.

    Raises:
        OSError: it cannot be read, so a change would not be detected, or is neither a file nor a folder.
    """
    if entry.is_symlink():
        _add(hasher, "link", name, os.readlink(entry.path))
        if not os.path.exists(entry.path):
            return
    status = entry.stat()
    if stat.S_ISDIR(status.st_mode):
        _add_folder(hasher, name, status.st_mode, modes)
    elif stat.S_ISREG(status.st_mode) and (digest := file_digest(entry.path)) != UNREADABLE:
        _add(hasher, "file", name, _mode(status, modes), digest)
    else:
        raise OSError(entry.path)


def _add_folder(hasher: Any, name: str, mode: int, modes: bool) -> None:
    _add(hasher, "folder", name, *([f"{stat.S_IMODE(mode):o}"] if modes else []))


def _mode(status: os.stat_result, modes: bool) -> str:
    return f"{stat.S_IMODE(status.st_mode) if modes else status.st_mode & 0o111:o}"


def _add(hasher: Any, *parts: str) -> None:
    hasher.update(("\0".join(parts) + "\0\n").encode("utf-8", "surrogateescape"))
