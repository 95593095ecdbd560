"""Cache of the repositories that a user has fetched in all working directories, to speed up new clones.

There is one entry for each remote URL: the packs of a clone, and its branches and tags of the remote. An entry never
changes: it is made in a temporary folder from links to a clone's files, and renamed to its path. A clone made from it
has links or copies, so an entry may be removed at any time. An entry is used only if the remote was queried in this
run, and each file is compared with the digest in the entry's description, which is sealed with the entry's name: an
intact pack of another entry is rejected.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.sealed import open_own
from commodore.core.results.caches.entry_store import ABOUT, EntryStore
from commodore.core.sources.git._empty_repository import is_plain
from commodore.core.sources.git._refs import RemoteRefs, refs_from
from commodore.core.sources.git.runner import Git
from commodore.core.sources.git.urls import normalize, redact

_PACK = re.compile(r"pack-[0-9a-f]{40}")
_FILE = re.compile(r"pack-[0-9a-f]{40}\.(pack|idx)")
_DIGEST_BYTES = 20  # both files end with the SHA-1 of their content
_CHUNK = 1 << 20


class Mirrors(EntryStore):
    """The entries in one folder, readable by this user alone. May be used from several threads and processes.

    Args:
        root: the folder; it need not exist (`commodore.core.results.caches.repository_cache()`).
    """

    def __init__(self, root: Path, context: Context) -> None:
        super().__init__("repositories", root, context.limits)
        self._context = context

    def holds(self, url: str) -> bool:
        """Check if there is an entry for a remote URL."""
        entry = self._entry(url)
        return entry is not None and (entry / ABOUT).is_file()

    def take(self, url: str, bare: Path) -> RemoteRefs | None:
        """Link the objects of the entry for `url` into an empty bare repository.

        Returns:
            The branches and tags of the entry, whose objects are all in `bare` now. None without an entry; a damaged
            entry is removed.
        """
        entry = self._entry(url)
        if entry is None or not is_plain(bare):
            return None
        folder = bare / "objects" / "pack"
        with contextlib.suppress(OSError):
            if (refs := self._take(entry, folder)) is not None:
                self.note_use(entry)
                return refs
        self.evict(entry)
        for name in os.listdir(folder):
            (folder / name).unlink()
        return None

    def learn(self, url: str, bare: Path, refs: RemoteRefs, *, is_new: bool = False) -> None:
        """Store the remote objects of a clone for other working directories, in place of the former entry.

        A clone is not stored if it has objects outside of packs, too many or too large packs, or may have lost a pack:
        git checks only new objects, and every new clone would lack the same. Errors of the disk are ignored: the entry
        only saves time.

        Args:
            refs: the remote's branches and tags in `bare`.
            is_new: all objects were fetched, or taken from the cache, in this run.
        """
        entry = self._entry(url)
        if entry is None or not refs.branches:
            return
        with contextlib.suppress(OSError, CommodoreError):
            packs = _complete_packs(bare)
            if packs is None:
                return
            if len(packs) > self.limits.mirror_packs or _size(bare, packs) > self.limits.mirror_bytes:
                self.evict(entry)
                return
            ends = {name: _end(bare / "objects" / "pack" / name) for name in packs}
            about = {"packs": ends, "refs": asdict(refs)}
            if self.describe(entry) != about and (is_new or self._adds(entry, bare, packs, refs)):
                self._add(entry, bare, packs, about)

    def _entry(self, url: str) -> Path | None:
        normal = normalize(url)
        if "?" in normal:  # a query may hold more than the repository's name, and is never recorded
            return None
        key = hashlib.sha256(b"1\0" + redact(normal).encode("utf-8", "surrogateescape")).hexdigest()
        return self.place(key)

    def _adds(self, entry: Path, bare: Path, packs: list[str], refs: RemoteRefs) -> bool:
        """Check if a clone has all packs of an entry, and all objects that its refs need in addition.

        Raises:
            CommodoreError: an object is missing.
        """
        known = self._contents(entry)
        if known is not None and not set(packs).issuperset(known[0]):
            return False
        objects = {*refs.branches.values(), *refs.tags.values()}
        have = {*known[1].branches.values(), *known[1].tags.values()} if known is not None else set[str]()
        lines = "".join([*(f"{sha}\n" for sha in sorted(objects)), *(f"^{sha}\n" for sha in sorted(have))])
        arguments = ["rev-list", "--objects", "--quiet", "--stdin"]
        Git(bare, self._context).run(arguments, input=lines.encode("ascii"))
        return True

    def _add(self, entry: Path, bare: Path, packs: Iterable[str], about: Mapping[str, Any]) -> None:
        with self.staging() as fresh:
            new = fresh / "entry"
            new.mkdir(mode=0o700)
            for name in packs:
                _link(bare / "objects" / "pack" / name, new / name)
            self.publish(new, entry, about, anew=True)

    def _contents(self, entry: Path) -> tuple[dict[str, str], RemoteRefs] | None:
        """Return the digests of an entry's files by name, and its refs."""
        about = self.describe(entry)
        try:
            return (_packs(about), refs_from(about["refs"])) if about is not None else None
        except (ValueError, LookupError, TypeError, AttributeError):
            return None

    def _take(self, entry: Path, folder: Path) -> RemoteRefs | None:
        contents = self._contents(entry)
        if contents is None:
            return None
        packs, refs = contents
        for name, digest in packs.items():
            _link(entry / name, folder / name)
            if _digest(folder / name) != digest:
                return None
        return refs

    def fits(self, place: Path, about: Mapping[str, Any]) -> bool:
        refs_from(about["refs"])
        return all(_digest(place / name) == digest for name, digest in _packs(about).items())


def _packs(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of an entry by its description: name -> digest at the end of the file.

    Raises:
        LookupError, TypeError, ValueError: they are not packs.
    """
    packs = dict(about["packs"])
    if not all(map(_FILE.fullmatch, packs)):
        raise ValueError(packs)
    return packs


def _complete_packs(bare: Path) -> list[str] | None:
    """Return the pack files with all objects of a repository; None if objects are elsewhere or missing."""
    objects = bare / "objects"
    if not is_plain(bare) or any((bare / name).exists() for name in ("shallow", "objects/info/alternates")):
        return None
    if any(len(name) == 2 and os.listdir(objects / name) for name in os.listdir(objects)):
        return None
    names = sorted(os.listdir(objects / "pack"))
    if any(name.endswith(".promisor") for name in names):
        return None
    stems = [name.removesuffix(".pack") for name in names if name.endswith(".pack")]
    if not stems or not all(_PACK.fullmatch(stem) and stem + ".idx" in names for stem in stems):
        return None
    return [stem + ending for stem in stems for ending in (".pack", ".idx")]


def _size(bare: Path, packs: Iterable[str]) -> int:
    return sum((bare / "objects" / "pack" / name).stat().st_size for name in packs)


def _link(source: Path, target: Path) -> None:
    """Make a hard link if the file system allows it, else a copy."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        shutil.copyfile(source, target)
        target.chmod(0o444)


def _digest(path: Path) -> str | None:
    """Return the digest of a pack or a pack index if the file ends with it, as git writes it; else None."""
    digest = hashlib.sha1(usedforsecurity=False)
    with open_own(path) as file:
        left = os.fstat(file.fileno()).st_size - _DIGEST_BYTES
        while left > 0 and (part := file.read(min(left, _CHUNK))):
            digest.update(part)
            left -= len(part)
        return digest.hexdigest() if left == 0 and file.read() == digest.digest() else None


def _end(path: Path) -> str:
    """Return the digest at the end of a pack or a pack index; it is verified when the entry is used."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _DIGEST_BYTES))
        return file.read().hex()
