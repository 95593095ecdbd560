"""Check the paths that a rendering may read and write, and open files for it.

A path is checked twice. First as it is spelled, so that nothing outside is opened. Then by the opened file: the
operating system gives its real place, with every link followed. Replacing a folder by a link between the two checks has
no effect.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import PolicyError
from commodore.base.files.pinned import pinned
from commodore.base.files.tree import Entry, walk
from commodore.base.limits import Limits
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.confinement.namespaces import View
from commodore.core.confinement.policy import DEFAULT_POLICY, TrustPolicy
from commodore.core.confinement.programs import start
from commodore.core.confinement.views import view_of

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY  # opening a pipe without a writer must not block
_REPOSITORY = ".git"
_KEPT = frozenset((_REPOSITORY, ".env"))  # never written: programs that run later trust them
_MOST_LINKS = 40
_PARTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Roots:
    """Folders by permission. The deepest folder that contains a path decides about it.

    Args:
        read: folders whose files may be read.
        write: folders in which files may be written and read.
        working: folders whose files may be read, except for hidden files and files in hidden folders: users keep their
            own files there, such as `.env` in a working directory.
        closed: folders whose files may not be read.
    """

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    working: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()


class Confinement:
    """The permissions of one rendering. Made once per rendering; code that opens files calls it.

    The repository data of git (`.git`) may never be read: it holds the credentials of remotes.

    Args:
        output: the folder of the rendered files; messages give paths relative to it.
        roots: the folders that may be read and written.
        component: the name of the rendered component, for the policy.
        policy: its further permissions.
    """

    def __init__(
        self,
        output: Path,
        roots: Roots,
        limits: Limits,
        component: str = "",
        policy: TrustPolicy = DEFAULT_POLICY,
    ) -> None:
        self.output = Path(os.path.realpath(output))
        self.component = component
        self.policy = policy
        self.limits = limits
        self._writable = _spellings((output, *roots.write))
        kinds = {**dict.fromkeys(roots.read, "read"), **dict.fromkeys(roots.working, "working")}
        kinds |= {**dict.fromkeys(roots.closed, "closed"), **dict.fromkeys((output, *roots.write), "read")}
        spelt = {spelling: kind for path, kind in kinds.items() for spelling in _spellings((path,))}
        self._roots = sorted(spelt.items(), key=lambda root: -len(root[0]))

    # Reading

    def is_open(self, path: str) -> bool:
        """Return True if an absolute path, as it is spelled, may be read. No file is accessed."""
        if "\0" in path:
            return False
        plain = os.path.normpath(path)
        for root, kind in self._roots:
            if plain == root or plain.startswith(root if root.endswith(os.sep) else root + os.sep):
                rest = plain[len(root) :].lstrip(os.sep)
                if kind == "closed" or (kind == "working" and rest.startswith(".")):
                    return False
                return _REPOSITORY not in rest.split(os.sep)
        return False

    def check_open(self, path: str, what: str = "file") -> None:
        """Refuse a path that may not be read, as it is spelled or with all links followed. It need not exist.

        Raises:
            PolicyError: CMD-CONF-001 or CMD-CONF-002.
        """
        place = os.path.abspath(path)
        if not self.is_open(place):
            raise self._outside(path, what)
        real = os.path.realpath(path)
        if real != place and not self.is_open(real):
            raise self._linked(place, real, what)

    def exists(self, path: str) -> bool:
        """Return True if an absolute path, which may be read as it is spelled, exists.

        Raises:
            PolicyError: a link leads from it to a file that may not be read.
        """
        if not self.is_open(path) or not os.path.exists(path):
            return False
        self.check_open(path)
        return True

    def explain_missing(self, paths: Iterable[str], what: str = "file") -> None:
        """Explain why no file was found at these absolute paths: some of them may not be read.

        Raises:
            PolicyError: one of them exists, but may not be read.
        """
        for path in paths:
            if not self.is_open(path) and os.path.lexists(path):
                raise self._outside(path, what)

    def read(self, path: str, what: str = "file") -> bytes:
        """Return the content of a plain file. The file is read once.

        Raises:
            PolicyError: it may not be read (CMD-CONF-001, CMD-CONF-002), or is too large or not a plain file
                (CMD-CONF-003).
            OSError: it cannot be read, such as a folder.
        """
        if not self.is_open(os.path.abspath(path)):
            self.explain_missing([os.path.abspath(path)], what)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        handle = os.open(path, _FLAGS)
        try:
            real = _place_of(handle, path)
            if not self.is_open(real):
                raise self._linked(os.path.abspath(path), real, what)
            size = self._check_kind(os.fstat(handle), path, what)
            return self._content(handle, size, path, what)
        finally:
            os.close(handle)

    def _content(self, handle: int, size: int, path: str, what: str) -> bytes:
        parts, total = [os.read(handle, size + 1)], 0
        # the file has grown, or a read returned a part of it
        while parts[-1] and (total := total + len(parts[-1])) != size:
            if total > self.limits.input_file_bytes:
                raise self._too_large(path, what)
            parts.append(os.read(handle, _PARTS))
        return b"".join(parts)

    def _check_kind(self, status: os.stat_result, path: str, what: str) -> int:
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(status.st_mode):
            raise PolicyError(
                "CMD-CONF-003",
                f"the {what} {path} is a device or a pipe, which has no end",
                hint="put a plain file there",
                locations=[path],
            )
        if status.st_size > self.limits.input_file_bytes:
            raise self._too_large(path, what)
        return status.st_size

    def _too_large(self, path: str, what: str) -> PolicyError:
        return PolicyError(
            "CMD-CONF-003",
            f"the {what} {path} is larger than {self.limits.input_file_bytes} bytes",
            hint="split it, or let a chart or an archive bring it",
            locations=[path],
        )

    def check_tree(self, path: str, what: str = "folder", *, is_copied: bool = False) -> None:
        """Refuse a file or a folder, for a program that reads all of it, if it or a link in it leads to a file that may
        not be read, or if it holds a pipe, a device or a git repository. Links are followed, as such programs do.

        Args:
            is_copied: the program copies it to the output, where an incomplete repository could become a repository.

        Raises:
            PolicyError: CMD-CONF-001, CMD-CONF-002 or CMD-CONF-003.
        """
        self.check_open(path, what)
        real = os.path.realpath(path)
        for root, kind in self._roots:
            if kind in ("closed", "working") and _within(root, real) and os.path.isdir(root):
                raise self._outside(root, "folder")
        if not os.path.isdir(real):
            if os.path.exists(real):
                self._check_kind(os.stat(real), path, what)
            return
        for place, is_link in _special(path, is_copied=is_copied):
            real = os.path.realpath(place)
            if not self.is_open(real):
                raise self._linked(place, real, "file") if is_link else self._outside(place, "folder")
            if not os.path.isdir(real) and os.path.exists(real):
                self._check_kind(os.stat(real), place, "file")

    def _outside(self, path: str, what: str) -> PolicyError:
        return PolicyError(
            "CMD-CONF-001",
            f"the {what} {path} is outside of what this rendering may read",
            hint="a component reads its own files, those of its dependencies and libraries, and what it has rendered",
            locations=[path],
        )

    def _linked(self, path: str, real: str, what: str) -> PolicyError:
        link = self._link_of(path)
        through = f"through the link {link} " if link else ""
        return PolicyError(
            "CMD-CONF-002",
            f"the {what} {path} leads {through}to {real}, which this rendering may not read",
            hint="links may lead to files of the same repository; replace it by the file itself",
            locations=[path, *([link] if link and link != path else [])],
        )

    def _link_of(self, path: str) -> str:
        """Return the first link on the way to a path that leaves the readable folders."""
        parts, place = [part for part in path.split(os.sep) if part], os.sep
        followed = 0
        while parts and followed < _MOST_LINKS:
            place = os.path.normpath(os.path.join(place, parts.pop(0)))
            if os.path.islink(place):
                followed += 1
                target = os.path.join(os.path.dirname(place), os.readlink(place))
                if self.is_open(place) and not self.is_open(target):
                    return place
                parts, place = [part for part in target.split(os.sep) if part] + parts, os.sep
        return ""

    # Starting programs

    def run(self, command: Sequence[str], *, is_ours: bool = True, **options: Any) -> subprocess.CompletedProcess[Any]:
        """Run a program to its end, as `subprocess.run` does. Its permission was checked before.

        Args:
            is_ours: it is a tool of the user, such as helm, and not a program of the component.

        Raises:
            PolicyError: it must be isolated, and this machine cannot do that.
            OSError: it cannot be started.
            subprocess.TimeoutExpired: it took longer than the `timeout` among the options.
        """
        if is_ours or self.policy.isolated is False:
            return start(command, **options)
        given = options.get("env")
        view = self.view(child_environment(Child.TOOL) if given is None else given)
        return start(command, view=view, required=self.policy.isolated is True, **options)

    def view(self, environment: Mapping[str, str]) -> View:
        """The file system that a program of the component sees if it is isolated.

        Args:
            environment: its variables; programs in the folders of its PATH can be run.
        """
        return view_of(dict(self._roots), self._writable, environment)

    # Writing

    def check(self, path: str | os.PathLike[str], what: str = "output file") -> None:
        """Refuse a path that, with every link followed, leaves the writable folders.

        Raises:
            PolicyError: the path leaves them.
        """
        if not self._may_write(os.path.realpath(path)):
            raise self._leaves(path, what)

    def make_folder(self, path: str | os.PathLike[str], what: str = "output path") -> None:
        """Make a folder for rendered files, and its parents, unless they exist.

        Raises:
            PolicyError: it lies outside of the writable folders, or one of its parents was replaced by a link.
            OSError: it cannot be created.
        """
        self.check(path, what)
        real = os.path.realpath(path)
        root = next((root for root in self._writable if _within(real, root)), None)
        if root is None:  # replaced by a link since the check
            raise self._leaves(path, what)
        if not os.path.isdir(real):
            with pinned(Path(real, "file"), Path(root).parent):
                return

    def opener(self, path: str, flags: int) -> int:
        """The `opener` of `open` for writing. The file is created in the checked folder, whatever lies at its path by
        now.

        Raises:
            PolicyError: it lies outside of the writable folders.
        """
        self.check(path)
        real = os.path.realpath(path)
        folder = os.open(os.path.dirname(real), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not self._may_write(_place_of(folder, os.path.dirname(real))):
                raise self._leaves(path, "output file")
            return os.open(os.path.basename(real), flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
        finally:
            os.close(folder)

    def write(self, path: str | os.PathLike[str], content: bytes) -> None:
        """Write a rendered file, or overwrite it.

        Raises:
            PolicyError: it lies outside of the writable folders.
        """
        with open(path, "wb", opener=self.opener) as file:
            file.write(content)

    def check_links(self, folder: Path) -> None:
        """Refuse links in the output that lead out of it, pipes and devices.

        Raises:
            PolicyError: the output holds one.
        """
        for place, is_link in _special(str(folder)):
            if is_link and not _within(os.path.realpath(place), str(self.output)):
                raise self._leaves(place, "link")
            if not is_link and not os.path.isdir(place):
                self._check_kind(os.stat(place), place, "output")

    def for_output_only(self) -> Confinement:
        """Return a copy that may write to the output only."""
        narrowed = copy.copy(self)
        narrowed._writable = _spellings((self.output,))
        return narrowed

    def _may_write(self, real: str) -> bool:
        if not any(_within(real, root) for root in self._writable) or not self.is_open(real):
            return False
        return not _KEPT.intersection(real.split(os.sep))

    def _leaves(self, path: str | os.PathLike[str], what: str) -> PolicyError:
        return PolicyError(
            "CMD-ENG-007",
            f"the {what} {self.describe(path)!r} is outside of the instance's output folder",
            hint="output paths and output keys are relative and must not leave the folder with '..' or links",
        )

    def describe(self, path: str | os.PathLike[str]) -> str:
        """Return the path relative to the output folder: as the user wrote it, without the folders of this run."""
        return os.path.relpath(path, self.output)


def is_absent(error: OSError) -> bool:
    """Return True for an error that reports a missing file."""
    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


def _spellings(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return folders as they are given, and with all links followed."""
    return tuple({spelling for path in paths for spelling in (os.path.normpath(path), os.path.realpath(path))})


def _special(path: str, *, is_copied: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the entries to check in a folder, and in the folders that links in it lead to: links (True), git
    repositories, and everything that is neither a file nor a folder. A folder with several links to it is read once.
    """
    seen = {os.path.realpath(path)}

    def is_known(entry: Entry) -> bool:
        if not (entry.is_symlink() and entry.is_dir()):
            return False
        real = os.path.realpath(entry.path)
        known = real in seen
        seen.add(real)
        return known

    with contextlib.suppress(OSError):  # reported when it is read
        for _, entry in walk(path, follow=True, skip=is_known):
            is_link, is_folder = entry.is_symlink(), entry.is_dir()
            if is_link or (_is_repository(entry, is_copied=is_copied) if is_folder else not entry.is_file()):
                yield entry.path, is_link


def _is_repository(entry: Entry, *, is_copied: bool) -> bool:
    return entry.name == _REPOSITORY and (is_copied or os.path.lexists(os.path.join(entry.path, "HEAD")))


def _place_of(handle: int, path: str) -> str:
    """Return the real path of an open file, with all links followed."""
    if sys.platform == "linux":
        try:
            return os.readlink(f"/proc/self/fd/{handle}")
        except OSError:
            pass
    elif sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(handle, 50, b"\0" * 1024).rstrip(b"\0"))  # F_GETPATH
    real = os.path.realpath(path)  # no other way on this system: resolve the path again
    if not os.path.samestat(os.stat(real), os.fstat(handle)):
        raise FileNotFoundError(errno.ENOENT, "it was replaced while it was opened", path)
    return real
