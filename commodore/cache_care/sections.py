"""The parts of the cache, what an entry of each is, and when it was last used."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from commodore.caches import (
    cache_folder,
    dependency_cache,
    library_cache,
    repository_cache,
    result_cache,
    template_cache,
    template_lock,
)
from commodore.dependencies.bundle import is_sound_export
from commodore.engine import (
    is_sound_dependency,
    is_sound_download,
    is_sound_result,
    kept_results,
    kept_shapes,
    tidy_results,
)
from commodore.file_lock import hold
from commodore.git import is_sound_mirror, run
from commodore.limits import Limits
from commodore.workspace import guard_disk

_HEX = re.compile(r"[0-9a-f]{64}")
_COMMIT_STORE = re.compile(r"[0-9a-f]{40,64}-[0-9a-f]{40,64}\.git")
_ABOUT = "about.json"
_HOST_DEPTH = 12  # folders between the root and a clone; URLs with longer paths are not looked for


@dataclass(frozen=True, slots=True)
class Entry:
    """What goes as a whole: a file or folder, its size in bytes, when it was last used (seconds since 1970)."""

    path: Path
    bytes: int
    used: float


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the cache.

    Args:
        name: what it is called on the command line's output.
        root: its folder; it need not exist.
        entries: finds its entries. Links are not followed.
        is_sound: whether an entry is what was written.
        others: further files whose soundness counts, such as lists of what results have read.
        staging: how the folders begin in which entries are made, and taken apart; below `root`.
        tidy: removes what belongs to no entry any more.
        lock: holds off processes that change existing entries.
    """

    name: str
    root: Path
    entries: Callable[[], Iterator[Entry]]
    is_sound: Callable[[Path], bool]
    others: Callable[[], Iterator[Path]] = field(default=lambda: iter(()))
    staging: str = "new-"
    tidy: Callable[[], None] = field(default=lambda: None)
    lock: Callable[[], AbstractContextManager[object]] = field(default=nullcontext)


def sections(limits: Limits) -> tuple[Section, ...]:
    """All parts that may be removed at any time. Installed tools and tokens are none of them."""
    results, dependencies, libraries = result_cache(), dependency_cache(), library_cache()
    downloads, bases, templates = dependencies / "downloads", dependencies / "kustomize", template_cache()
    exports, repositories = libraries / "exports", repository_cache()
    return (
        Section(
            "results",
            results,
            lambda: (Entry(one.path, one.bytes, one.used) for one in kept_results(results)),
            is_sound_result,
            others=lambda: kept_shapes(results),
            tidy=lambda: tidy_results(results, limits),
        ),
        Section(
            "dependencies",
            dependencies,
            lambda: _described(dependencies),
            lambda entry: is_sound_dependency(entry, limits),
        ),
        Section("downloads", downloads, lambda: _described(downloads), is_sound_download),
        Section("kustomize", bases, lambda: _commit_stores(bases), lambda entry: _is_sound_store(entry, limits)),
        Section("repositories", repositories, lambda: _described(repositories), is_sound_mirror),
        Section("libraries", exports, lambda: _described(exports), is_sound_export),
        Section(
            "templates",
            templates,
            lambda: _clones(templates),
            lambda entry: _is_sound_clone(entry, limits),
            staging=".new-",
            lock=_hold_templates,
        ),
    )


def is_ours(root: Path) -> bool:
    """Whether a folder lies in the cache, and not somewhere else where a link leads."""
    real, cache = os.path.realpath(root), os.path.realpath(cache_folder())
    return real.startswith(cache + os.sep)


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files below a folder. Links are not followed."""
    with contextlib.suppress(OSError):
        if not path.is_dir() or path.is_symlink():
            return path.lstat().st_size
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def children(folder: Path) -> list[os.DirEntry[str]]:
    """The folders in a folder, in name order, without links; none if it is gone or is a link itself."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return sorted((one for one in found if one.is_dir(follow_symlinks=False)), key=lambda one: one.name)
    return []


def _described(root: Path) -> Iterator[Entry]:
    """Folders named by a digest, with a file that is touched whenever they are used."""
    for group in children(root):
        if len(group.name) != 2:
            continue
        for entry in children(Path(group.path)):
            if _HEX.fullmatch(entry.name):
                yield from _entry(Path(entry.path), _ABOUT)


def _commit_stores(root: Path) -> Iterator[Entry]:
    for entry in children(root):
        if _COMMIT_STORE.fullmatch(entry.name):
            yield from _entry(Path(entry.path))


def _clones(root: Path, depth: int = 0) -> Iterator[Entry]:
    for entry in children(root):
        path = Path(entry.path)
        if entry.name.endswith(".git") and (path / "HEAD").is_file():
            yield from _entry(path, "FETCH_HEAD", "HEAD", ".")
        elif not entry.name.startswith(".") and depth < _HOST_DEPTH:
            yield from _clones(path, depth + 1)


def _entry(path: Path, *marks: str) -> Iterator[Entry]:
    """An entry that was used when the newest of its marks was changed; the folder itself if it has none."""
    times = []
    for mark in marks or (".",):
        with contextlib.suppress(OSError):
            times.append((path / mark).lstat().st_mtime)
    with contextlib.suppress(OSError):
        yield Entry(path, size_of(path), max(times) if times else path.lstat().st_mtime)


def _is_sound_clone(entry: Path, limits: Limits) -> bool:
    checked = run(
        ["fsck", "--no-progress", "--no-dangling"],
        cwd=entry,
        timeout=limits.git_timeout,
        check=False,
        environment={"GIT_DIR": str(entry)},
    )
    return checked.returncode == 0


def _is_sound_store(entry: Path, limits: Limits) -> bool:
    """Whether a clone is sound and has the commit that it is named after."""
    commit = entry.name.rpartition("-")[2].removesuffix(".git")
    if not _is_sound_clone(entry, limits):
        return False
    arguments = ["cat-file", "-e", f"{commit}^{{commit}}"]
    environment = {"GIT_DIR": str(entry)}
    answer = run(arguments, cwd=entry, timeout=limits.git_timeout, check=False, environment=environment)
    return answer.returncode == 0


def _hold_templates() -> AbstractContextManager[object]:
    """Clones of templates change in place: a process that fetches into them holds this lock, and waits for us."""
    path = template_lock()
    if not path.parent.is_dir():
        return nullcontext()
    with guard_disk(path):
        return hold(path, wait=math.inf)
