"""Paths that mean the same in every working directory, and what lies there, as digests."""

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
    """Names paths by what they lie in, so that a record of what was read holds in another working directory, too.

    Args:
        roots: folders by name; the longest that holds a path names it.
        own: the folder that the run works in; what lies there is made from what is recorded.
        installed: folders of the installation, whose files never change while it is the same.
        cluster_refs: the folder for ref files of one cluster alone. Only `ref_file` names it.
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
        self._own = (*(one for path in own for one in _spellings(os.path.normpath(path))), *self._installed)

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the run takes place, apart from its own passing folders."""
        return tuple(sorted({path for name, path in self._roots if name not in _APART}))

    @property
    def passing(self) -> tuple[str, ...]:  # runs in workers
        """The folder that the run works in, if that has a name."""
        return tuple(path for name, path in self._roots if name == _OWN)

    @property
    def layout(self) -> tuple[tuple[str, str], ...]:
        """How the folders lie to each other, those of the references apart, which only references lead to. A relative
        path that leads from one into another does so only as long as this is the same.
        """
        known = sorted(self._by_name.items(), key=lambda root: (-len(root[1]), root[0]))
        known = [(name, path) for name, path in known if name not in _APART]
        found = []
        for name, path in known:
            around = ((other, folder) for other, folder in known if other != name and lies_in(path, folder))
            other, folder = next(around, ("", path))
            found.append((name, f"{other}:{os.path.relpath(path, folder)}"))
        return tuple(sorted(found))

    def is_installed(self, path: str) -> bool:
        """Whether a file belongs to the installation."""
        return lies_in(path, *self._installed)

    @classmethod
    def of(cls, run: BatchRun, instance: str, installed: Sequence[Path], *, whole: bool = True) -> PortablePaths:
        """The places of an instance: its component, the output folder, the references, the working directory.

        Args:
            whole: what the run makes for the instance needs no record, as all of the instance is recorded; for a part
                of it, it has a name as well.
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
        """The name of an absolute path; None for one that needs no record."""
        path = os.path.normpath(path)
        if lies_in(path, *self._own):
            return None
        for name, folder in self._roots:
            if lies_in(path, folder):
                return f"{name}:{path[len(folder) :].lstrip(os.sep)}"
        return f":{path}"

    @property
    def cluster_refs(self) -> str | None:
        """The name of the folder for ref files of the cluster, which other clusters do not have."""
        return None if self._cluster_refs is None else self.name(self._cluster_refs)

    def ref_file(self, path: str) -> str | None:
        """The name of a ref file, the same for all clusters if it lies where each has its own: who keeps it has to keep
        `cluster_refs` as well.
        """
        if self._cluster_refs is not None and lies_in(path, self._cluster_refs):
            return f"{_CLUSTER_REFS}:{os.path.relpath(path, self._cluster_refs)}"
        return self.name(path)

    def of_this_cluster(self, name: str) -> str:
        """A name as `name` gives it: that of the cluster's ref file instead of one that is the same for all."""
        is_ref = name.startswith(f"{_CLUSTER_REFS}:")
        return (self.name(self.path(name)) or name) if is_ref else name

    def path(self, name: str) -> str:
        """The path of a name."""
        root, _, rest = name.partition(":")
        if root == _CLUSTER_REFS and self._cluster_refs is not None:
            return os.path.join(self._cluster_refs, rest)
        return os.path.join(self._by_name[root], rest) if root else rest

    def pattern(self, name: str) -> str:
        """The path of the name of a pattern. What stands in the path of a root is no part of the pattern."""
        root, _, rest = name.partition(":")
        return os.path.join(glob.escape(self._by_name[root]), rest) if root else rest

    def portable(self, text: str) -> str:
        """A text with the folders in it replaced by their names, which no path can hold."""
        for folder in self._own:
            text = _replace(text, folder, "own")
        for name, folder in self._roots:
            text = _replace(text, folder, name)
        return text


def _spellings(path: str) -> set[str]:
    """A folder as it was given and, where links lead to it, as it is: some who read go by that. A folder that is a link
    itself leads elsewhere, and its target is no part of it.
    """
    parent, name = os.path.split(path)
    return {path, os.path.join(os.path.realpath(parent), name)} if name else {path}


def _replace(text: str, folder: str, name: str) -> str:
    """Only whole names: `/work/one` is no part of `/work/one-more` or of `/old/work/one`."""
    if folder not in text:
        return text
    return re.sub(rf"(?<![^\s:;,='\"(]){re.escape(folder)}(?![^\s:;,'\")/])", lambda _: f"\0{name}\0", text)


def value_digest(value: Any) -> str:
    """The digest of plain data. The order of keys counts, and so does the type of a number."""
    return hashlib.sha256(marshal.dumps(value, 2)).hexdigest()


def value_at(node: Mapping[str, Any], path: Sequence[str]) -> str:
    """The digest of what a node has at a path of keys, or that it has nothing there."""
    value: Any = node
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _ABSENT
        value = value[key]
    return value_digest(value)


def names_at(node: Mapping[str, Any], path: Sequence[str]) -> str:
    """The digest of the keys of the map that a node has at a path; of its type if it is no map."""
    value: Any = node
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _ABSENT
        value = value[key]
    return value_digest(sorted(map(str, value)) if isinstance(value, dict) else type(value).__name__)


def kind_of(path: str) -> str:
    """Whether a file or a folder is there. A link that leads nowhere is neither."""
    if os.path.isdir(path):
        return FOLDER
    if os.path.exists(path):
        return "file"
    return "link" if os.path.lexists(path) else MISSING


def file_digest(path: str) -> str:
    """The digest of a file's content, or of what is in its place."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # which does not wait for a pipe's writer
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
    """The paths that a pattern names, sorted, without those that are left out."""
    return sorted(hit for hit in glob.glob(pattern) if not unless(hit))


def tree_digest(
    path: str, unless: Callable[[str], bool] = lambda _: False, *, modes: bool = False, times: Any = None
) -> str:
    """The digest of a folder with everything in it: names, kinds, contents, targets of links, who may run a file.

    Args:
        unless: says of a path that it is left out.
        modes: all bits of the modes of files and folders count, for those who copy them.
        times: a hash that gets the times of change of all that is in it, each looked at before the thing is read.
    """
    add_times(times, path)
    if not os.path.isdir(path):
        digest = file_digest(path)
        mode = _mode(os.stat(path), modes) if os.path.exists(path) else "0"
        return f"{digest} {mode}" if digest != UNREADABLE else digest
    found = hashlib.sha256()
    try:
        _add_folder(found, "", os.stat(path).st_mode, modes)
        for name, entry in walk(path, follow=True, skip=lambda entry: unless(entry.path)):
            add_times(times, entry.path)
            _add_entry(found, name, entry, modes)
    except OSError:
        return UNREADABLE
    return found.hexdigest()


def empty_digest(*, modes: bool = False) -> str:
    """The digest of a folder as a run makes it, with nothing in it."""
    found = hashlib.sha256()
    _add_folder(found, "", FOLDER_MODE, modes)
    return found.hexdigest()


def _add_entry(found: Any, name: str, entry: Entry, modes: bool) -> None:
    """Add what is in a tree, what a link leads to, too.

    Raises:
        OSError: it cannot be read, so that a change would go unnoticed, or is neither a file nor a folder.
    """
    if entry.is_symlink():
        _add(found, "link", name, os.readlink(entry.path))
        if not os.path.exists(entry.path):
            return
    status = entry.stat()
    if stat.S_ISDIR(status.st_mode):
        _add_folder(found, name, status.st_mode, modes)
    elif stat.S_ISREG(status.st_mode) and (digest := file_digest(entry.path)) != UNREADABLE:
        _add(found, "file", name, _mode(status, modes), digest)
    else:
        raise OSError(entry.path)


def _add_folder(found: Any, name: str, mode: int, modes: bool) -> None:
    _add(found, "folder", name, *([f"{stat.S_IMODE(mode):o}"] if modes else []))


def _mode(status: os.stat_result, modes: bool) -> str:
    return f"{stat.S_IMODE(status.st_mode) if modes else status.st_mode & 0o111:o}"


def _add(found: Any, *parts: str) -> None:
    found.update(("\0".join(parts) + "\0\n").encode("utf-8", "surrogateescape"))
