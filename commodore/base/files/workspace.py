"""The paths of a working directory, its lock, and the atomic replacement of files and folders."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.exhaustion import hint_for
from commodore.base.files.file_lock import HeldElsewhere, hold
from commodore.base.files.pinned import HANDLES, link_in, pinned
from commodore.base.files.tree import children
from commodore.base.limits import Limits

_STAGING = ".staging"
_SHALLOW = 8  # the depth of folders that are not moved
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # constants of Linux


@dataclass(frozen=True, slots=True)
class Workspace:
    """The working directory of a run. `root` is absolute and free of symlinks; it may be missing."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> Workspace:
        """Return the workspace at `path`, made absolute with its symlinks resolved.

        Raises:
            EnvironmentFault: `path` is a file, or cannot be accessed.
        """
        with guard_disk(path):
            root = _resolve(path)
            usable = root.is_dir() or not os.path.lexists(root)
        if not usable:
            raise EnvironmentFault(
                "CMD-WORK-001",
                f"the working directory {root} is not a directory",
                hint="choose another one with --working-dir",
            )
        return cls(root)

    @property
    def inventory(self) -> Path:
        return self.root / "inventory"

    @property
    def classes(self) -> Path:
        return self.inventory / "classes"

    @property
    def component_classes(self) -> Path:
        return self.classes / "components"

    @property
    def defaults_classes(self) -> Path:
        return self.classes / "defaults"

    @property
    def cluster_params(self) -> Path:
        return self.classes / "params" / "cluster.yml"

    @property
    def global_config(self) -> Path:
        return self.classes / "global"

    def tenant_config(self, tenant: str) -> Path:
        """The classes of a tenant, by its id."""
        return self.classes / tenant

    @property
    def targets(self) -> Path:
        return self.inventory / "targets"

    def target(self, name: str) -> Path:
        """The file of a target."""
        return self.targets / f"{name}.yml"

    @property
    def dependencies(self) -> Path:
        return self.root / "dependencies"

    @property
    def repositories(self) -> Path:
        """The bare clones, one for each remote repository."""
        return self.dependencies / ".repos"

    def component(self, instance: str) -> Path:
        """Return the checkout of an instance's component."""
        return self.dependencies / instance

    def package(self, name: str) -> Path:
        """Return the checkout of a package."""
        return self.dependencies / f"pkg.{name}"

    @property
    def libraries(self) -> Path:
        """Links to the libraries of all components."""
        return self.dependencies / "lib"

    @property
    def vendor(self) -> Path:
        return self.root / "vendor"

    @property
    def jsonnetfile(self) -> Path:
        return self.root / "jsonnetfile.json"

    @property
    def jsonnetfile_lock(self) -> Path:
        return self.root / "jsonnetfile.lock.json"

    @property
    def compiled(self) -> Path:
        return self.root / "compiled"

    @property
    def catalog(self) -> Path:
        return self.root / "catalog"

    @property
    def manifests(self) -> Path:
        return self.catalog / "manifests"

    @property
    def refs(self) -> Path:
        return self.catalog / "refs"

    @property
    def state(self) -> Path:
        """Commodore's own files: the lock, staging folders, pending reports."""
        return self.root / ".commodore"

    @property
    def generated(self) -> tuple[Path, ...]:
        """The paths that `catalog clean` removes."""
        return (self.inventory, self.libraries, self.dependencies / "libs", self.compiled, self.catalog)

    @property
    def own(self) -> tuple[Path, ...]:
        """The folders that a run writes to. They must not be links, which would lead the files elsewhere."""
        return (
            self.state,
            self.inventory,
            self.classes,
            self.component_classes,
            self.defaults_classes,
            self.cluster_params.parent,
            self.targets,
            self.dependencies,
            self.repositories,
            self.libraries,
            self.vendor,
            self.compiled,
            self.catalog,
        )

    def _refuse_links(self) -> None:
        links = [folder.relative_to(self.root) for folder in self.own if folder.is_symlink()]
        if links:
            raise link_in(links, self.root)

    @contextlib.contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """A new empty folder on the workspace's file system, removed afterwards unless it was moved.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        with guard_disk(self.state):
            self.root.mkdir(parents=True, exist_ok=True)
            with pinned(self.state / _STAGING, self.root) as inside:
                made = tempfile.mkdtemp(prefix=f"{name}-", suffix=_STAGING, dir=inside.parent)
            folder = self.state / Path(made).name
        try:
            yield folder
        finally:
            remove_tree(folder, root=self.root)

    def discard(self, path: Path) -> None:
        """Remove `path` in one step: a killed run leaves all of it, or nothing.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        with self.staging("discarded") as aside:
            with (
                contextlib.suppress(OSError),
                pinned(path, self.root, make=False) as place,
            ):  # for example on another file system
                place.rename(aside / "old")
            remove_tree(path, root=self.root)

    @contextlib.contextmanager
    def locked(self, limits: Limits) -> Iterator[None]:
        """Lock the workspace for a run. The operating system releases the lock when the process ends in any way.

        Raises:
            PolicyError: another run holds it (the message has its pid and start time), or one of its folders is a link.
            EnvironmentFault: the operating system refused.
        """
        self._refuse_links()
        with guard_disk(self.state / "lock"):
            self.state.mkdir(parents=True, exist_ok=True)
            try:
                lock = hold(self.state / "lock", wait=limits.lock_wait, signed=True)
            except HeldElsewhere as error:
                who = f" ({error.holder})" if error.holder else ""
                raise PolicyError(
                    "CMD-WORK-002",
                    f"another run of commodore{who} works in {self.root}",
                    hint="wait for it to end, or choose another folder with --working-dir",
                ) from None
        with lock:
            with guard_disk(self.state / "lock"):
                self._sweep()
            yield

    def forget_lock(self) -> None:
        """Remove the lock file, and the folder of commodore's own files if it is empty then. The caller holds the lock,
        and does not use the workspace afterwards.
        """
        with guard_disk(self.state):
            (self.state / "lock").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # it holds other files, or is a link
                self.state.rmdir()

    def _sweep(self) -> None:
        """Remove staging folders of killed runs; the holder of the lock is the only run.

        Nothing else is removed: `.commodore` may be a link to a folder with other files.
        """
        for entry in sorted(self.state.iterdir()):
            if entry.name.endswith(_STAGING) and entry.is_dir() and not entry.is_symlink():
                remove_tree(entry)


@contextlib.contextmanager
def guard_disk(place: Path) -> Iterator[None]:
    """Convert an error of the operating system about `place` (full disk, no permission) into an actionable one.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    try:
        yield
    except OSError as error:
        named = [name for name in (error.filename2, error.filename) if isinstance(name, (str, bytes))]
        places = [name for name in map(os.fsdecode, named) if not name.startswith(HANDLES)]
        raise EnvironmentFault(
            "CMD-WORK-003",
            f"cannot use {place}: {error.strerror or error}",
            hint=hint_for(error),
            locations=list(dict.fromkeys(places)) or [str(place)],
        ) from error


def write_atomically(
    path: Path, content: bytes, mode: int = 0o644, *, durable: bool = False, root: Path | None = None
) -> bool:
    """Set the content and mode of `path` by renaming a finished file. Returns False if both were the same already.

    A symlink at `path` is replaced, never written through. If the process is killed, the file is complete or unchanged.
    With `durable` it is on disk when this returns, and survives a power failure. Missing parents of a file that only
    this user may read are created for this user only.

    Args:
        root: a parent folder; no link below it is followed, whatever other processes do meanwhile.

    Raises:
        EnvironmentFault: the operating system refused.
        PolicyError: CMD-WORK-007, a folder below the root is a link.
    """
    with guard_disk(path), pinned(path, root) as path:
        if _has(path, content, mode):
            return False
        if mode & _OTHERS:
            path.parent.mkdir(parents=True, exist_ok=True)
        else:
            make_private(path.parent)
        with _open_beside(path) as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
            os.close(os.dup(file.fileno()))  # some file systems report a full disk only on close
            os.replace(file.name, path)
            # A process started by another thread may inherit the file: it must not lock the finished file.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)
        if durable:
            _sync_folder(path.parent)
    return True


_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents for this user only. An existing one is left unchanged.

    Raises:
        OSError: the operating system refused, or a file is in the way.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        if not folder.is_dir():
            raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_BESIDE = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TRIES = 100  # attempts for a name that other runs use, too; each takes two calls
_READABLE = 32  # characters of the target's name in temporary names; the longest names leave no room for more


def _temporary_name(path: Path) -> Path:
    """Return the path of the temporary file that is renamed to `path`. It is always the same, so that the next run
    reuses the leftovers of a killed one.
    """
    return path.with_name(f".{path.name[:_READABLE]}-{zlib.crc32(os.fsencode(path.name)):08x}")


@contextlib.contextmanager
def _open_beside(path: Path) -> Iterator[IO[bytes]]:
    """An empty file next to `path`, removed unless it is renamed. While it is open no other run gets its name.

    If another process is writing the same file, or something is in the way, the name is a new one.
    """
    files: list[IO[bytes]] = []
    name = str(_temporary_name(path))
    ours = False
    try:
        ours = _open_alone(name, files)
        if not ours:
            handle, other = tempfile.mkstemp(prefix=f".{path.name[:_READABLE]}-", dir=path.parent)
            files.append(open(other, "wb", opener=lambda *_: handle))  # noqa: SIM115 - closed below
            ours = True
        yield files[-1]
    except BaseException:
        if ours:
            with contextlib.suppress(OSError):
                os.unlink(files[-1].name)
        while files:
            files.pop().close()
        if not ours:  # Ctrl-C, perhaps just after the file was created
            _remove_unused(name)
        raise
    finally:
        for file in files:
            file.close()


def _open_alone(name: str, files: list[IO[bytes]]) -> bool:
    """Add the open file of that name. Returns False if another run writes it or something is in the way."""
    with contextlib.suppress(OSError):
        handle = os.open(name, _BESIDE | os.O_CREAT, 0o600)
        files.append(open(name, "wb", opener=lambda *_: handle))  # noqa: SIM115 - the caller closes it
        return _is_alone(handle, name)
    return False


def _remove_unused(name: str) -> None:
    """Remove a file unless another run writes it."""
    with contextlib.suppress(OSError), open(name, "rb", opener=lambda *_: os.open(name, _BESIDE)) as file:
        if _is_alone(file.fileno(), name):
            os.unlink(name)


def _is_alone(handle: int, name: str) -> bool:
    """Lock an open file, if it is still at its place and no other run writes it, and truncate it."""
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or not os.path.samestat(status, os.lstat(name)):
        return False
    if status.st_size:  # left by a killed run
        os.fchmod(handle, 0o600)
        os.ftruncate(handle, 0)
    return True


def remove_unfinished(path: Path) -> None:
    """Remove the leftovers of a killed `write_atomically` of this path."""
    _remove_unused(str(_temporary_name(path)))


def _has(path: Path, content: bytes, mode: int) -> bool:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (
        stat.S_ISREG(status.st_mode)
        and stat.S_IMODE(status.st_mode) == mode
        and status.st_size == len(content)
        and path.read_bytes() == content
    )


def link_relative(link: Path, target: Path, *, root: Path | None = None) -> None:
    """Make `link` a relative symlink to `target`, replacing a file or link in one step.

    Args:
        root: see `write_atomically`.

    Raises:
        EnvironmentFault: a folder is in the way, or the operating system refused.
        PolicyError: CMD-WORK-007, a folder below the root is a link.
    """
    with guard_disk(link), pinned(link, root) as place:
        text = os.path.relpath(target, os.path.realpath(place.parent))
        with contextlib.suppress(OSError):  # missing, or not a link
            if os.readlink(place) == text:
                return
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            raise EnvironmentFault(
                "CMD-WORK-004",
                f"a folder is in the way of the link {link}",
                hint="move the folder away and run again",
            )
        _put_link(place, text)


def _put_link(place: Path, text: str) -> None:
    """Rename a new link to `place`. Other runs use the same temporary name: retry if one of them took it."""
    temporary = _temporary_name(place)
    for left in reversed(range(_TRIES)):
        try:
            temporary.unlink(missing_ok=True)
            temporary.symlink_to(text)
            os.replace(temporary, place)
            return
        except (FileExistsError, FileNotFoundError):
            if not left:
                raise
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def make_folder(folder: Path, *, root: Path) -> None:
    """Create a folder, and its missing parents below the root.

    Raises:
        EnvironmentFault: the operating system refused.
        PolicyError: CMD-WORK-007, one of them is a link.
    """
    with guard_disk(folder), pinned(folder / "entry", root):
        return


def move_entry(source: Path, target: Path, *, root: Path) -> None:
    """Rename an entry below a root.

    Raises:
        OSError: the operating system refused.
        PolicyError: CMD-WORK-007, a folder below the root is a link.
    """
    with pinned(source, root) as now, pinned(target, root) as then:
        now.rename(then)


@contextlib.contextmanager
def folder_beside(place: Path, folder: Path | None = None, *, parents: bool = False) -> Iterator[Path]:
    """A new folder on the file system of `place`, to be moved there once it is complete; otherwise it is removed.

    Args:
        folder: the parent of the new folder, by default that of `place`.
        parents: create missing parents, through links. Otherwise the parent must exist.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with guard_disk(place):
        folder = folder or place.parent
        if parents:
            folder.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{place.name[:_READABLE]}-", dir=folder))
    try:
        with guard_disk(fresh):
            fresh.chmod(0o755)
        yield fresh
    finally:
        remove_tree(fresh)


def replace_tree(new: Path, place: Path, *, root: Path | None = None) -> None:
    """Move the folder `new` to `place` by renames; the old one is removed only after that.

    The old folder is kept next to `new`, so that the clean-up finds it there after a killed run.

    Args:
        root: see `write_atomically`; `new` may be outside of it.

    Raises:
        EnvironmentFault: the operating system refused; `place` is unchanged.
        PolicyError: CMD-WORK-007, a folder below the root is a link.
    """
    of_new = root if root is not None and new.is_relative_to(root) else None
    with guard_disk(place), pinned(place, root) as place, pinned(new, of_new) as new:
        place.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(place):
            os.rename(new, place)
            return
        aside = Path(tempfile.mkdtemp(prefix=".old-", dir=new.parent))
        old = aside / "old"
        try:
            os.rename(place, old)
            os.rename(new, place)
        except BaseException:
            if os.path.lexists(old) and not os.path.lexists(place):
                os.rename(old, place)
            if not os.path.lexists(old):
                aside.rmdir()
            raise
        remove_tree(aside)


def exchange_tree(new: Path, place: Path, *, root: Path | None = None) -> None:
    """Like `replace_tree`, but in one step if possible: a killed run leaves the old or the new folder at `place`.

    Args:
        root: see `replace_tree`.

    Raises:
        EnvironmentFault: the operating system refused; `place` is unchanged.
        PolicyError: CMD-WORK-007, a folder below the root is a link.
    """
    of_new = root if root is not None and new.is_relative_to(root) else None
    with guard_disk(place), pinned(place, root) as then, pinned(new, of_new) as now:
        exchanged = _exchange(now, then)
        if exchanged:
            remove_tree(now)
    if not exchanged:
        replace_tree(new, place, root=root)


def _exchange(new: Path, place: Path) -> bool:
    """Exchange two folders. Returns False if that is impossible: not on Linux, not on this file system, `place` is
    missing.
    """
    import ctypes  # few commands need it

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(place), _RENAME_EXCHANGE) == 0)


def copy_tree(source: Path, destination: Path) -> None:
    """Copy a folder with its modes; symlinks are copied as symlinks.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with guard_disk(destination):
        try:
            shutil.copytree(source, destination, symlinks=True)
        except shutil.Error as error:
            raise OSError(0, str(error.args[0][0][2]), str(error.args[0][0][1])) from error


def remove_tree(path: Path, *, root: Path | None = None) -> None:
    """Remove a file, link or folder with its contents; a missing path is ignored. Links are not followed.

    Args:
        root: see `write_atomically`.

    Raises:
        EnvironmentFault: the operating system refused.
        PolicyError: CMD-WORK-007, a folder below the root is a link.
    """
    with guard_disk(path), contextlib.suppress(FileNotFoundError), pinned(path, root, make=False) as path:
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return
        if not stat.S_ISDIR(mode):
            path.unlink(missing_ok=True)
        else:
            _remove_folder(path)


def _remove_folder(path: Path) -> None:
    try:
        _remove_shallow(path)
    except (RecursionError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.EMFILE, errno.ENAMETOOLONG):
            raise
        _flatten(path)  # deep nesting: each level takes a call and a descriptor
        _remove_shallow(path)


def _flatten(path: Path) -> None:
    """Move deeply nested folders to the top, so that a walk does not go deep, and no path is long."""
    path.chmod(stat.S_IRWXU)
    pending = [(path, 0)]
    while pending:
        folder, depth = pending.pop()
        for entry in children(folder):
            if not entry.is_dir(follow_symlinks=False):
                continue
            below = Path(entry.path)
            below.chmod(stat.S_IRWXU)
            if depth >= _SHALLOW:
                below = Path(tempfile.mkdtemp(prefix=".deep-", dir=path))
                os.rename(entry.path, below)
            pending.append((below, 0 if depth >= _SHALLOW else depth + 1))


def _remove_shallow(path: Path) -> None:
    try:
        if sys.version_info >= (3, 12):
            shutil.rmtree(path, onexc=lambda _, name, __: _remove_protected(path, Path(name)))
        else:
            shutil.rmtree(path, onerror=lambda _, name, __: _remove_protected(path, Path(name)))
    except OSError as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # raised while a folder was closed: retry
            raise error.__context__ from None
        raise


def _remove_protected(root: Path, entry: Path) -> None:
    """Remove a read-only entry, such as git's objects: make it and its folder writable and retry."""
    if not os.path.lexists(entry):
        return
    if entry != root:
        entry.parent.chmod(stat.S_IRWXU)
    if entry.is_dir() and not entry.is_symlink():
        entry.chmod(stat.S_IRWXU)
        shutil.rmtree(entry)
    else:
        entry.unlink()


def is_inside(path: Path, root: Path) -> bool:
    """Return True if `path`, with symlinks resolved, is `root` or lies in it. A path with a loop lies nowhere."""
    try:
        return _resolve(path).is_relative_to(_resolve(root))
    except OSError:
        return False


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # raised by Python before 3.13 for loops of links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
