"""Errors about what the hierarchy sets, with the files and lines that set it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings, Location, Setting
from commodore.core.inventory.explain._chains import Chains, Link, UnexplainedError, counting
from commodore.core.inventory.render import find_classes

_ENTRY = 2  # keys that a part of a parameter must have to tell more than which class was first: `components.name`
_HOPS = 10  # references that are followed from the key that is asked for to the value


def locate_settings(error: CommodoreError, inventory: Path, context: Context) -> CommodoreError:
    """The same error with files and lines in place of the settings that it is about.

    The file with the value comes first, then those whose references lead to it; they stand where the first setting was
    among the error's places. A field that is set nowhere is looked for in what it would be a part of. What cannot be
    found stays as it is named.

    Args:
        inventory: the folder with `classes/` and `targets/`.
    """
    return _Locating(inventory, context).locate(error)


@dataclass(slots=True)
class _Locating:
    inventory: Path
    context: Context
    _chains: dict[str, Chains | None] = field(default_factory=dict)

    def locate(self, error: CommodoreError) -> CommodoreError:
        if isinstance(error, Findings):
            return Findings(self.locate(one) for one in error.errors)
        settings = [one for one in error.locations if isinstance(one, Setting)]
        found = dict.fromkeys(place for one in settings for place in self._places(one, one.path))
        if settings and not found:
            parts = [(one, one.path[:size]) for one in settings for size in range(len(one.path) - 1, _ENTRY - 1, -1)]
            found = dict.fromkeys(next(filter(None, (self._places(*part) for part in parts)), []))
        if not found:
            return error
        before = list(takewhile(lambda one: not isinstance(one, Setting), error.locations))
        after = [one for one in error.locations[len(before) :] if not isinstance(one, Setting)]
        return type(error)(error.code, error.message, hint=error.hint, locations=[*before, *found, *after])

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


def _entries(chains: Chains, wanted: str) -> Iterator[Location]:
    """The entries of `applications` that are spelt so, or else those that begin with this component."""
    files = chains.documents.files
    listed = [
        (one.file, entry) for one in chains.documents.ordered for entry in files.section(one.file, "applications")
    ]
    exact = [(file, entry) for file, entry in listed if entry.split() == wanted.split()]
    for file, entry in exact or [(file, entry) for file, entry in listed if entry.split()[:1] == [wanted]]:
        yield Location(str(file), files.line_of_entry(file, "applications", entry))


def _values(chains: Chains, path: tuple[object, ...]) -> Iterator[Location]:
    """The place of the value that counts, and those of the references that lead to it."""
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
