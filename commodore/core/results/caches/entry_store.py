"""Base classes of the cache's stores: create, describe, verify and remove entries.

An entry is created by a rename, complete. It is removed by a rename or unlink, at any time: a reader finds all of it or
nothing, and creates it again. So several processes may use a store at the same time, and a killed process leaves only a
temporary folder that the next one removes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.files.staging import staging, sweep
from commodore.base.files.tree import Measure, Rules, Skip, children, measure, size_of
from commodore.base.files.workspace import guard_disk, make_private, remove_tree, replace_tree, write_atomically
from commodore.base.limits import Limits

ABOUT = "about.json"
HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """The unit of removal: a file or folder, its size in bytes, and when it was last used (seconds since 1970)."""

    path: Path
    bytes: int
    used: float


class Store(ABC):
    """A part of the cache, as `commodore cache` shows, shrinks and verifies it.

    Args:
        name: its name in output; the kind of its entries.
        root: its folder; it need not exist.
    """

    staging_prefix = "new-"
    """Prefix of the temporary folders below `root` in which entries are created and removed."""

    def __init__(self, name: str, root: Path, limits: Limits) -> None:
        self.name = name
        self.root = root
        self.limits = limits

    @abstractmethod
    def entries(self) -> Iterator[StoredEntry]:
        """Yield the entries that may be removed. Links are not followed."""

    @abstractmethod
    def is_sound(self, path: Path) -> bool:
        """Check if an entry, or a file of `others`, is intact and at the path where it was written."""

    def others(self) -> Iterator[Path]:
        """Yield further files to verify, such as lists of the inputs of results."""
        return iter(())

    def tidy(self) -> None:  # noqa: B027 - most stores have nothing to tidy
        """Remove files that belong to no entry any more."""

    def lock(self) -> AbstractContextManager[object]:
        """Return a lock against processes that change existing entries."""
        return nullcontext()

    def staging(self) -> AbstractContextManager[Path]:
        """Create a temporary folder next to the entries and remove it at the end, with the leftovers of killed runs.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        return staging(self.root, self.staging_prefix, self.limits.staging_age)

    def sweep(self, now: float | None = None) -> None:
        """Remove the leftovers of killed runs that are too old at the time `now` (seconds since 1970)."""
        sweep(self.root, self.staging_prefix, self.limits.staging_age, now)

    def remove(self, path: Path) -> bool:
        """Remove an entry; to other processes it disappears at once. Returns False if it was missing already.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        with guard_disk(path):
            try:
                if path.is_symlink() or not path.is_dir():
                    path.unlink()
                    return True
                with self.staging() as aside:
                    path.rename(aside / "old")
            except FileNotFoundError:
                return False
            if path.parent != self.root:
                with contextlib.suppress(OSError):
                    path.parent.rmdir()  # the group's folder, if this was its last entry
        return True


def folders(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the folders in a folder, in name order, without links; none if it is missing, unreadable or a link."""
    with contextlib.suppress(OSError):
        if not os.path.islink(folder):
            return [Path(entry.path) for entry in children(folder) if entry.is_dir(follow_symlinks=False)]
    return []


def digest_folders(root: Path) -> Iterator[Path]:
    """Yield the folders named by a digest, which are grouped in folders named by its first two digits."""
    for group in folders(root):
        if len(group.name) == 2:
            yield from (folder for folder in folders(group) if HEX.fullmatch(folder.name))


def entry_of(path: Path, *marks: str) -> Iterator[StoredEntry]:
    """Yield a folder as an entry, last used when the newest of its `marks` was modified; nothing if it is missing."""
    times = []
    for mark in marks or (".",):
        with contextlib.suppress(OSError):
            times.append((path / mark).lstat().st_mtime)
    with contextlib.suppress(OSError):
        yield StoredEntry(path, size_of(path), max(times) if times else path.lstat().st_mtime)


class EntryStore(Store):
    """A store of folders that are named by a digest of their inputs, each with a sealed description.

    An entry never changes, but may be replaced. Its description is touched whenever the entry is used.
    """

    def place(self, digest: str) -> Path:
        """Return the path of the entry with a name (hex SHA-256)."""
        return self.root / digest[:2] / digest

    def describe(self, place: Path) -> dict[str, Any] | None:
        """Return the description of the entry at a path; None if it is missing, damaged or another entry's."""
        content = read_sealed(place / ABOUT, (self.name, place.name))
        return json.loads(content) if content is not None else None

    def note_use(self, place: Path) -> None:
        """Record that an entry was used now: the least recently used entries are pruned first."""
        with contextlib.suppress(OSError):
            os.utime(place / ABOUT)

    def publish(self, fresh: Path, place: Path, about: Mapping[str, Any], *, anew: bool = False) -> None:
        """Move a finished folder from `staging` to its entry's path. If another process was first, its entry stays.

        Args:
            anew: replace an existing entry, even if it is sound.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        content = json.dumps(about, sort_keys=True).encode()
        write_atomically(fresh / ABOUT, seal((self.name, place.name), content), 0o600)
        if not anew and self.describe(place) is not None:
            return
        with guard_disk(place):
            make_private(place.parent)
        try:
            replace_tree(fresh, place)
        except EnvironmentFault:
            if self.describe(place) is None:
                raise

    def evict(self, place: Path) -> None:
        """Remove a damaged entry. If that fails, it is not used either."""
        with contextlib.suppress(OSError, CommodoreError):
            if os.path.lexists(place):
                self.remove(place)

    def entries(self) -> Iterator[StoredEntry]:
        for place in digest_folders(self.root):
            yield from entry_of(place, ABOUT)

    def is_sound(self, path: Path) -> bool:
        try:
            about = self.describe(path)
            return about is not None and self.fits(path, about)
        except (OSError, LookupError, TypeError, ValueError, AttributeError):
            return False

    @abstractmethod
    def fits(self, place: Path, about: Mapping[str, Any]) -> bool:
        """Check if the files of an entry match its description.

        Raises:
            OSError, LookupError, TypeError, ValueError, AttributeError: they do not.
        """


class TreeStore(EntryStore):
    """A store whose entries have a folder `content` and its digest in the description. Content is copied out, never
    linked, and verified while it is copied.

    Args:
        rules: how content is copied and measured.
    """

    def __init__(self, name: str, root: Path, limits: Limits, rules: Rules) -> None:
        super().__init__(name, root, limits)
        self.rules = rules

    def add(
        self, place: Path, fill: Callable[[Path], Measure], about: Mapping[str, Any], *, anew: bool = False
    ) -> None:
        """Add a folder as an entry.

        Args:
            fill: writes the content to a path, and measures it by the rules.
            anew: replace an existing entry.

        Raises:
            EnvironmentFault, OSError: it was not added: the disk refused, or the content cannot be stored.
        """
        with self.staging() as aside:
            fresh = aside / "entry"
            fresh.mkdir(mode=0o700)
            self.publish(fresh, place, {**about, "digest": fill(fresh / "content").digest}, anew=anew)

    def copy(self, place: Path, target: Path) -> bool:
        """Copy the content of an entry to a new folder. Returns False if the entry is missing or damaged."""
        if not os.path.lexists(place):
            return False
        with contextlib.suppress(OSError):
            about = self.describe(place)
            if about is not None and measure(place / "content", target, self.rules).digest == about["digest"]:
                self.note_use(place)
                return True
        remove_tree(target)
        self.evict(place)
        return False

    def holds(self, place: Path, folder: Path, skip: Skip | None = None) -> bool:
        """Check if a folder has exactly the files of an entry, without regard to files that `skip` leaves out."""
        with contextlib.suppress(OSError):
            about = self.describe(place)
            return about is not None and measure(folder, None, replace(self.rules, skip=skip)).digest == about["digest"]
        return False

    def fits(self, place: Path, about: Mapping[str, Any]) -> bool:
        return self.holds(place, place / "content")
