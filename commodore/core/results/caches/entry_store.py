"""What all stores of the cache have in common: how entries appear, are known again, and go.

An entry appears by a rename, complete. It goes by a rename or unlink, too, at any time: a reader finds all of it or
nothing, and makes it again. So several processes may use a store at the same time, and a process that is killed leaves
nothing but a folder that the next one removes.
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
    """What goes as a whole: a file or folder, its size in bytes, when it was last used (seconds since 1970)."""

    path: Path
    bytes: int
    used: float


class Store(ABC):
    """A part of the cache, as `commodore cache` shows, shrinks and verifies it.

    Args:
        name: what it is called in output; the kind of its entries.
        root: its folder; it need not exist.
    """

    staging_prefix = "new-"
    """How the folders begin in which entries are made, and taken apart; below `root`."""

    def __init__(self, name: str, root: Path, limits: Limits) -> None:
        self.name = name
        self.root = root
        self.limits = limits

    @abstractmethod
    def entries(self) -> Iterator[StoredEntry]:
        """What may be removed. Links are not followed."""

    @abstractmethod
    def is_sound(self, path: Path) -> bool:
        """Whether an entry, or one of the others, is what was written, at the place where it was written."""

    def others(self) -> Iterator[Path]:
        """Further files whose soundness counts, such as lists of what results have read."""
        return iter(())

    def tidy(self) -> None:  # noqa: B027 - most stores have nothing to tidy
        """Remove what belongs to no entry any more."""

    def lock(self) -> AbstractContextManager[object]:
        """Holds off processes that change existing entries."""
        return nullcontext()

    def staging(self) -> AbstractContextManager[Path]:
        """A fresh folder beside the entries, removed afterwards; what killed runs have left goes, too.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        return staging(self.root, self.staging_prefix, self.limits.staging_age)

    def sweep(self, now: float | None = None) -> None:
        """Remove what killed runs have left, at the time `now` (seconds since 1970)."""
        sweep(self.root, self.staging_prefix, self.limits.staging_age, now)

    def remove(self, path: Path) -> bool:
        """Remove an entry: by one rename or unlink for everybody else. Returns False if it was gone already.

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
                    path.parent.rmdir()  # the folder that it shared with others, if it was the last one
        return True


def folders(folder: str | os.PathLike[str]) -> list[Path]:
    """The folders in a folder, in name order, without links; none if it is gone, refused, or a link itself."""
    with contextlib.suppress(OSError):
        if not os.path.islink(folder):
            return [Path(one.path) for one in children(folder) if one.is_dir(follow_symlinks=False)]
    return []


def digest_folders(root: Path) -> Iterator[Path]:
    """The folders that are named by digests, in folders named by the first two digits of these."""
    for group in folders(root):
        if len(group.name) == 2:
            yield from (one for one in folders(group) if HEX.fullmatch(one.name))


def entry_of(path: Path, *marks: str) -> Iterator[StoredEntry]:
    """A folder as an entry that was used when the newest of its marks was changed; nothing if it is gone."""
    times = []
    for mark in marks or (".",):
        with contextlib.suppress(OSError):
            times.append((path / mark).lstat().st_mtime)
    with contextlib.suppress(OSError):
        yield StoredEntry(path, size_of(path), max(times) if times else path.lstat().st_mtime)


class EntryStore(Store):
    """Folders that are named by a digest of all that they stand for, each with a sealed description.

    An entry never changes; it may be replaced. Its description is touched whenever it is used.
    """

    def place(self, digest: str) -> Path:
        """Where the entry of a name (hex SHA-256) is."""
        return self.root / digest[:2] / digest

    def describe(self, place: Path) -> dict[str, Any] | None:
        """The description of the entry at a place; None if there is none, or one that is damaged or another entry's."""
        content = read_sealed(place / ABOUT, (self.name, place.name))
        return json.loads(content) if content is not None else None

    def note_use(self, place: Path) -> None:
        """An entry is used: what is used last goes last when there is no more room."""
        with contextlib.suppress(OSError):
            os.utime(place / ABOUT)

    def publish(self, fresh: Path, place: Path, about: Mapping[str, Any], *, anew: bool = False) -> None:
        """Put a finished folder from `staging` at the place of its entry. Another process's may be there first.

        Args:
            anew: replace what is there, even if it is sound.

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
        """Remove an entry that is damaged. One that the disk does not give up is never used, either."""
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
        """Whether the files of an entry are those of its description.

        Raises:
            OSError, LookupError, TypeError, ValueError, AttributeError: they are not.
        """


class TreeStore(EntryStore):
    """Entries whose files lie in a folder `content`, and whose description has its digest. They are copied out, never
    linked to, and verified while they are copied.

    Args:
        rules: how content is copied and measured.
    """

    def __init__(self, name: str, root: Path, limits: Limits, rules: Rules) -> None:
        super().__init__(name, root, limits)
        self.rules = rules

    def add(
        self, place: Path, fill: Callable[[Path], Measure], about: Mapping[str, Any], *, anew: bool = False
    ) -> None:
        """Keep a folder.

        Args:
            fill: puts the content at a path, and measures it by the rules.
            anew: replace what is kept there.

        Raises:
            EnvironmentFault, OSError: it was not kept: the disk refused, or it is nothing to keep.
        """
        with self.staging() as aside:
            fresh = aside / "entry"
            fresh.mkdir(mode=0o700)
            self.publish(fresh, place, {**about, "digest": fill(fresh / "content").digest}, anew=anew)

    def copy(self, place: Path, target: Path) -> bool:
        """Copy the content of an entry to a new folder. Returns False if there is none that is sound."""
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
        """Whether a folder has exactly the files of an entry, and nothing else but what is left out."""
        with contextlib.suppress(OSError):
            about = self.describe(place)
            return about is not None and measure(folder, None, replace(self.rules, skip=skip)).digest == about["digest"]
        return False

    def fits(self, place: Path, about: Mapping[str, Any]) -> bool:
        return self.holds(place, place / "content")
