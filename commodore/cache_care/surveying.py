"""What there is in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commodore.cache_care.sections import is_ours, sections, size_of
from commodore.caches import cache_folder
from commodore.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Survey:
    """A part of the cache.

    Args:
        entries: how many there are; None for what is not made of entries.
        bytes: of all files in the folder.
        oldest, newest: when the entries were used that were used first and last (seconds since 1970); None if there
            are none.
        prunable: whether `prune` removes entries.
        elsewhere: whether the folder is a link that leads out of the cache, so that it is left alone.
    """

    name: str
    folder: Path
    entries: int | None
    bytes: int
    oldest: float | None
    newest: float | None
    prunable: bool = True
    elsewhere: bool = False


def survey(limits: Limits = DEFAULT_LIMITS) -> tuple[Survey, ...]:
    """All parts of the cache; the tools that `commodore tool` has installed come last."""
    found = []
    nested = 0
    for section in reversed(sections(limits)):
        if section.root.is_dir() and not is_ours(section.root):
            found.append(Survey(section.name, section.root, None, 0, None, None, prunable=False, elsewhere=True))
            continue
        times = [entry.used for entry in section.entries()]
        size = size_of(section.root) if section.root.is_dir() else 0
        if section.name in ("downloads", "kustomize"):  # their folders lie in that of the dependencies
            nested += size
        elif section.name == "dependencies":
            size -= nested
        found.append(
            Survey(section.name, section.root, len(times), size, min(times, default=None), max(times, default=None))
        )
    tools = cache_folder() / "tools"
    installed = Survey("tools", tools, None, size_of(tools) if tools.is_dir() else 0, None, None, prunable=False)
    return (*reversed(found), installed)
