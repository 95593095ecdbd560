"""Reading everything again, to see whether it is what was written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from commodore.cache_care.pruning import remove
from commodore.cache_care.sections import Section, is_ours, sections
from commodore.errors import CommodoreError, raise_all
from commodore.events import Announce, StageAdvanced, ignore
from commodore.limits import DEFAULT_LIMITS, Limits

STAGE = "verifying the cache"


@dataclass(frozen=True, slots=True)
class Verified:
    """How many entries of a section were read, and which are damaged. These are removed, unless nothing was to be."""

    name: str
    entries: int
    damaged: tuple[Path, ...]


def verify(
    *, dry_run: bool = False, announce: Announce = ignore, limits: Limits = DEFAULT_LIMITS
) -> tuple[Verified, ...]:
    """Read everything in the cache. What is damaged is removed: runs would not use it anyway.

    Args:
        dry_run: leave it where it is.

    Raises:
        CommodoreError: git is missing, or damaged entries cannot be removed.
    """
    errors: list[CommodoreError] = []
    found = []
    for section in sections(limits):
        if section.root.is_dir() and is_ours(section.root):
            with section.lock():
                found.append(_verify(section, dry_run, errors))
            announce(StageAdvanced(STAGE, section.name))
    raise_all(errors)
    return tuple(found)


def _verify(section: Section, dry_run: bool, errors: list[CommodoreError]) -> Verified:
    entries = [entry.path for entry in section.entries()]
    damaged = []
    for path in (*entries, *section.others()):
        # What is gone was pruned, and what is whole at a second look was just written again.
        if section.is_sound(path) or not os.path.lexists(path) or section.is_sound(path):
            continue
        damaged.append(path)
        if not dry_run:
            try:
                remove(section, path)
            except CommodoreError as error:
                errors.append(error)
    if damaged and not dry_run:
        section.tidy()
    return Verified(section.name, len(entries), tuple(damaged))
