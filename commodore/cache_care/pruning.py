"""Eviction of cache entries, least recently used first."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commodore.cache_care.sections import Entry, Section, is_ours, sections
from commodore.errors import CommodoreError, raise_all
from commodore.events import Announce, Warned, ignore
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.staging import staging, sweep
from commodore.workspace import guard_disk


@dataclass(frozen=True, slots=True)
class PruneRules:
    """What goes.

    Args:
        older_than: what was not used for so many seconds; None keeps what is old.
        max_bytes: what was used least recently, until all that is left has no more bytes than this; None for no bound.
        everything: all of it.
    """

    older_than: float | None = None
    max_bytes: int | None = None
    everything: bool = False

    @classmethod
    def usual(cls, limits: Limits) -> PruneRules:
        """What is not used any more."""
        return cls(older_than=limits.cache_age)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went from a section, or would go; and what is left."""

    name: str
    removed: int
    removed_bytes: int
    left: int
    left_bytes: int


def prune(
    rules: PruneRules,
    *,
    dry_run: bool = False,
    announce: Announce = ignore,
    now: float | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Pruned, ...]:
    """Remove entries, and what killed runs have left half made.

    An entry that is used after it was looked at stays.

    Args:
        dry_run: only say what would go.
        now: the time (seconds since 1970), by default that of the clock.

    Raises:
        CommodoreError: entries that the operating system does not give up; all others are gone then.
    """
    now = time.time() if now is None else now
    found = {section.name: (section, list(section.entries())) for section in _sections(limits, announce)}
    chosen = _choose([entry for _, entries in found.values() for entry in entries], rules, now)
    errors: list[CommodoreError] = []
    done = []
    for section, entries in found.values():
        wanted = [entry for entry in entries if entry.path in chosen]
        gone = wanted if dry_run else _remove_all(section, wanted, limits, now, errors)
        size = sum(entry.bytes for entry in gone)
        left = len(entries) - len(gone), sum(entry.bytes for entry in entries) - size
        done.append(Pruned(section.name, len(gone), size, *left))
    raise_all(errors)
    return tuple(done)


def remove(section: Section, path: Path) -> bool:
    """Remove an entry: by one rename or unlink for everybody else. Returns False if it was gone already.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    with guard_disk(path):
        try:
            if path.is_symlink() or not path.is_dir():
                path.unlink()
                return True
            with staging(section.root, section.staging) as aside:
                path.rename(aside / "old")
        except FileNotFoundError:
            return False
        if path.parent != section.root:
            with contextlib.suppress(OSError):
                path.parent.rmdir()  # the folder that it shared with others, if it was the last one
    return True


def _sections(limits: Limits, announce: Announce) -> list[Section]:
    """The sections that are there and lie in the cache."""
    usable = []
    for section in sections(limits):
        if not section.root.is_dir():
            continue
        if is_ours(section.root):
            usable.append(section)
        else:
            announce(
                Warned(
                    "CMD-CACHE-003",
                    f"{section.root} is a link that leads out of the cache, so it is left alone",
                    hint="let XDG_CACHE_HOME name another folder if the cache is to lie elsewhere",
                )
            )
    return usable


def _choose(entries: Sequence[Entry], rules: PruneRules, now: float) -> set[Path]:
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
    section: Section, entries: Sequence[Entry], limits: Limits, now: float, errors: list[CommodoreError]
) -> list[Entry]:
    gone = []
    with section.lock():
        # What was used meanwhile stays: only the entries that are as they were go.
        today = {entry.path: entry.used for entry in section.entries()} if entries else {}
        for entry in entries:
            if today.get(entry.path) != entry.used:
                continue
            try:
                if remove(section, entry.path):
                    gone.append(entry)
            except CommodoreError as error:
                errors.append(error)
        section.tidy()
        sweep(section.root, section.staging, limits.staging_age, now)
    return gone
