"""Add files and lines of the hierarchy to errors about settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings, Location, Setting
from commodore.core.inventory.explain._chains import Chains, Link, UnexplainedError, counting
from commodore.core.inventory.render import find_classes

_ENTRY = 2  # minimum keys of a parent that is searched: `components.name`
_HOPS = 10  # references followed from a key to the value


def locate_settings(error: CommodoreError, inventory: Path, context: Context) -> CommodoreError:
    """Return the error with files and lines in place of its settings.

    The file with the value comes first, then those with references to it, at the position of the first setting. For a
    field that is not set, its parents are searched. Settings that cannot be located stay as they are.

    Args:
        inventory: the folder with `classes/` and `targets/`.
    """
    return _SettingLocator(inventory, context).locate(error)


@dataclass(slots=True)
class _SettingLocator:
    inventory: Path
    context: Context
    _chains: dict[str, Chains | None] = field(default_factory=dict)

    def locate(self, error: CommodoreError) -> CommodoreError:
        if isinstance(error, Findings):
            return Findings(self.locate(cause) for cause in error.errors)
        settings = [location for location in error.locations if isinstance(location, Setting)]
        places = dict.fromkeys(place for setting in settings for place in self._places(setting, setting.path))
        if settings and not places:
            parents = [
                (setting, setting.path[:size])
                for setting in settings
                for size in range(len(setting.path) - 1, _ENTRY - 1, -1)
            ]
            places = dict.fromkeys(next(filter(None, (self._places(*parent) for parent in parents)), []))
        if not places:
            return error
        before = list(takewhile(lambda location: not isinstance(location, Setting), error.locations))
        after = [location for location in error.locations[len(before) :] if not isinstance(location, Setting)]
        return type(error)(error.code, error.message, hint=error.hint, locations=[*before, *places, *after])

    def _places(self, setting: Setting, path: tuple[object, ...]) -> list[Location]:
        chains = self._of(setting.target)
        if chains is None:
            return []
        try:
            return list(_entries(chains, setting.entry) if setting.entry else _values(chains, path))
        except (UnexplainedError, RecursionError):
            return []

    def _of(self, target: str) -> Chains | None:
        if target not in self._chains:
            try:
                self._chains[target] = Chains.of(find_classes(self.inventory, target), target)
            except CommodoreError:  # the error at hand is the one to report
                self._chains[target] = None
        return self._chains[target]


def _entries(chains: Chains, spelling: str) -> Iterator[Location]:
    """Yield the entries of `applications` with this spelling, or else all entries of this component."""
    files = chains.documents.files
    listed = [
        (document.file, entry)
        for document in chains.documents.ordered
        for entry in files.section(document.file, "applications")
    ]
    exact = [(file, entry) for file, entry in listed if entry.split() == spelling.split()]
    for file, entry in exact or [(file, entry) for file, entry in listed if entry.split()[:1] == [spelling]]:
        yield Location(str(file), files.line_of_entry(file, "applications", entry))


def _values(chains: Chains, path: tuple[object, ...]) -> Iterator[Location]:
    """Yield the place of the effective value, and those of the references that lead to it."""
    links = [link for link in _hops(chains, path) if not (link.document.is_target or link.document.by_reclass)]
    for link in reversed(links):
        yield Location(str(link.document.file), link.place.line, link.place.column)


def _hops(chains: Chains, path: tuple[object, ...]) -> Iterator[Link]:
    for _ in range(_HOPS):
        given = [link for link in counting(chains.links(path)) if link.gives] if path else []
        if not given:
            return
        yield given[-1]
        content = chains.content(given[-1])
        if not isinstance(content, tuple):
            return
        path = content
