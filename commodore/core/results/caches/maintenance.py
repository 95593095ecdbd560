"""Maintenance of stores: count, prune and verify their entries.

Other runs may read and write at the same time. They create removed entries again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, raise_all
from commodore.base.events import StageAdvanced, Warned, ignore
from commodore.base.files.tree import size_of
from commodore.base.files.workspace import write_atomically
from commodore.base.limits import Limits
from commodore.base.values.units import moment_text
from commodore.core.results.caches import cache_folder
from commodore.core.results.caches.entry_store import Store, StoredEntry

STAGE = "verifying the cache"
_STAMP = "checked"


@dataclass(frozen=True, slots=True)
class Survey:
    """A part of the cache.

    Args:
        entries: their number; None for a part without entries.
        bytes: the size of all files in the folder.
        oldest, newest: when the least and most recently used entries were used (seconds since 1970); None without
            entries.
        prunable: whether `prune` removes entries.
        elsewhere: whether the folder is a link that leads out of the cache, so that it is left alone.
    """

    name: str
    folder: Path
    entries: int | None
    bytes: int
    oldest: float | None = field(default=None, metadata={"json": moment_text})
    newest: float | None = field(default=None, metadata={"json": moment_text})
    prunable: bool = True
    elsewhere: bool = False


def survey(stores: Sequence[Store]) -> tuple[Survey, ...]:
    """Return the sizes of all parts of the cache, last the tools that `commodore tool` has installed."""
    sizes = {store.root: size_of(store.root) for store in stores if _is_usable(store)}
    tools = cache_folder() / "tools"
    installed = Survey("tools", tools, None, size_of(tools), prunable=False)
    return (*(_survey(store, sizes) for store in stores), installed)


def _survey(store: Store, sizes: dict[Path, int]) -> Survey:
    if store.root.is_dir() and store.root not in sizes:
        return Survey(store.name, store.root, None, 0, prunable=False, elsewhere=True)
    times = [entry.used for entry in store.entries()]
    inside = sum(size for root, size in sizes.items() if store.root in root.parents)
    size = sizes.get(store.root, 0) - inside
    return Survey(store.name, store.root, len(times), size, min(times, default=None), max(times, default=None))


@dataclass(frozen=True, slots=True)
class PruneRules:
    """Rules that select the entries to remove.

    Args:
        older_than: remove entries not used for so many seconds; None keeps old ones.
        max_bytes: remove the least recently used entries until the rest has at most so many bytes; None for no limit.
        everything: remove all entries.
    """

    older_than: float | None = None
    max_bytes: int | None = None
    everything: bool = False

    @classmethod
    def usual(cls, limits: Limits) -> PruneRules:
        """Return the default rules: remove entries not used for `limits.cache_age` seconds."""
        return cls(older_than=limits.cache_age)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The entries removed from a store (in a dry run: that would be removed), and the remaining ones."""

    name: str
    removed: int
    removed_bytes: int
    left: int
    left_bytes: int


def prune(
    stores: Iterable[Store],
    rules: PruneRules,
    context: Context,
    *,
    dry_run: bool = False,
    now: float | None = None,
) -> tuple[Pruned, ...]:
    """Remove entries, and unfinished ones of killed runs.

    An entry that is used after it was listed stays.

    Args:
        dry_run: only report what would be removed.
        now: the time (seconds since 1970), by default that of the clock.

    Raises:
        CommodoreError: entries that could not be removed; all others are removed.
    """
    now = time.time() if now is None else now
    listed = [(store, list(store.entries())) for store in _usable(stores, context)]
    chosen = _choose([entry for _, entries in listed for entry in entries], rules, now)
    errors: list[CommodoreError] = []
    done = []
    for store, entries in listed:
        selected = [entry for entry in entries if entry.path in chosen]
        gone = selected if dry_run else _remove_all(store, selected, now, errors)
        size = sum(entry.bytes for entry in gone)
        left = len(entries) - len(gone), sum(entry.bytes for entry in entries) - size
        done.append(Pruned(store.name, len(gone), size, *left))
    raise_all(errors)
    return tuple(done)


def keep_bounded(store: Store, max_bytes: int, age: float) -> None:
    """Remove the least recently used entries if there are too many, at most once every `age` seconds.

    Other calls only read the time of a file. Errors of the disk are not reported: no caller depends on the result.

    Args:
        age: seconds between two checks.
    """
    stamp = store.root / _STAMP
    with contextlib.suppress(OSError):
        if 0 <= time.time() - stamp.stat().st_mtime < age:
            return
    with contextlib.suppress(OSError, CommodoreError):
        write_atomically(stamp, b"", 0o600)
        os.utime(stamp)
        _prune_one(store, max_bytes)


def _prune_one(store: Store, max_bytes: int) -> None:
    now, entries = time.time(), list(store.entries())
    chosen = _choose(entries, PruneRules(max_bytes=max_bytes), now)
    _remove_all(store, [entry for entry in entries if entry.path in chosen], now, [])


def _usable(stores: Iterable[Store], context: Context) -> list[Store]:
    """Return the stores that exist and are in the cache."""
    usable = []
    for store in stores:
        if _is_usable(store):
            usable.append(store)
        elif store.root.is_dir():
            context.announce(
                Warned(
                    "CMD-CACHE-003",
                    f"{store.root} is a link that leads out of the cache, so it is left alone",
                    hint="set XDG_CACHE_HOME to another folder if the cache belongs elsewhere",
                )
            )
    return usable


def _is_usable(store: Store) -> bool:
    """Check if a store exists and is in the cache, not outside of it by a link."""
    real, cache = os.path.realpath(store.root), os.path.realpath(cache_folder())
    return os.path.isdir(real) and real.startswith(cache + os.sep)


def _choose(entries: Sequence[StoredEntry], rules: PruneRules, now: float) -> set[Path]:
    if rules.everything:
        return {entry.path for entry in entries}
    chosen = set()
    if rules.older_than is not None:
        chosen = {entry.path for entry in entries if now - entry.used > rules.older_than}
    if rules.max_bytes is not None:
        left = 0
        for entry in sorted(entries, key=lambda entry: (-entry.used, str(entry.path))):
            if entry.path not in chosen:
                left += entry.bytes
                if left > rules.max_bytes:
                    chosen.add(entry.path)
    return chosen


def _remove_all(
    store: Store, entries: Sequence[StoredEntry], now: float, errors: list[CommodoreError]
) -> list[StoredEntry]:
    gone = []
    with store.lock():
        # Entries that were used since they were listed stay.
        today = {entry.path: entry.used for entry in store.entries()} if entries else {}
        for entry in entries:
            if today.get(entry.path) != entry.used:
                continue
            try:
                if store.remove(entry.path):
                    gone.append(entry)
            except CommodoreError as error:
                errors.append(error)
        store.tidy()
        store.sweep(now)
    return gone


@dataclass(frozen=True, slots=True)
class Verified:
    """The number of entries of a store that were read, and the damaged ones, which are removed except in a dry run."""

    name: str
    entries: int
    damaged: tuple[Path, ...]


def verify(stores: Iterable[Store], context: Context, *, dry_run: bool = False) -> tuple[Verified, ...]:
    """Read everything in the cache, and remove damaged entries: runs would not use them anyway.

    Args:
        dry_run: do not remove them.

    Raises:
        CommodoreError: git is missing, or damaged entries cannot be removed.
    """
    errors: list[CommodoreError] = []
    results = []
    for store in _usable(stores, context.with_announce(ignore)):
        with store.lock():
            results.append(_verify(store, dry_run, errors))
        context.announce(StageAdvanced(STAGE, store.name))
    raise_all(errors)
    return tuple(results)


def _verify(store: Store, dry_run: bool, errors: list[CommodoreError]) -> Verified:
    entries = [entry.path for entry in store.entries()]
    damaged = []
    for path in (*entries, *store.others()):
        # Another run may have removed the entry, or just written it again: then the second check passes.
        if store.is_sound(path) or not os.path.lexists(path) or store.is_sound(path):
            continue
        damaged.append(path)
        if not dry_run:
            try:
                store.remove(path)
            except CommodoreError as error:
                errors.append(error)
    if damaged and not dry_run:
        store.tidy()
    return Verified(store.name, len(entries), tuple(damaged))
