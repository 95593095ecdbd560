"""What is there today for all that was once read: how results are verified, of whole instances and of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.engine.reuse.places import Places, value_digest
from commodore.engine.reuse.programs import Programs, defaults_digest, tool_digest
from commodore.engine.reuse.reads import Key, Observer
from commodore.engine.reuse.sources import Sources
from commodore.engine.reuse.store import Result, ResultStore
from commodore.engine.reuse.subject import settings_digest

Nodes = Mapping[str, Mapping[str, Any]]
Shape = tuple[str, tuple[Key, ...]]
"""The name of a list of things that were read, and the list."""


class Today(Observer):
    """Gives today's digest of everything that an instance can read.

    Args:
        instance: the instance.
        places: how paths are named today.
        nodes: the rendered inventory of today.
        memory: digests of files by path, shared by all that may rely on each other's look.
        programs: the identities of programs.
        sources: tells what sources are today.
        environment: what programs are run with.
    """

    def __init__(
        self,
        instance: str,
        places: Places,
        nodes: Nodes,
        memory: dict[tuple[str, ...], str],
        programs: Programs,
        sources: Sources,
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(places, nodes, memory)
        self._instance = instance
        self._folders = list(places.folders)
        self._here = places
        self._inventory = nodes
        self._programs = programs
        self._sources = sources
        self._environment = environment

    def digest(self, key: Key) -> str | None:
        """What is there now; None if that cannot be told."""
        if key[0] == "source":
            return self._sources.digest(key)
        if key[0] == "settings":
            return settings_digest(self._inventory[self._instance], self._here)
        if key[0] == "root":
            return value_digest(self._folders)
        if key[0] == "tool":
            return tool_digest(key[1], self._programs)
        if key[0] == "defaults":
            return defaults_digest(key[1], self._environment)
        return super().digest(key)

    def digests(self, keys: Sequence[Key]) -> list[str] | None:
        """What is there now for each of these; None if one cannot be told."""
        found: list[str] = []
        for key in keys:
            digest = self.digest(key)
            if digest is None:
                return None
            found.append(digest)
        return found


@dataclass(frozen=True, slots=True)
class Match:
    """A result that still holds.

    Args:
        shape: the name of the list of things that were read.
        keys: that list.
        digests: what was found for each of them, then and today.
    """

    shape: str
    keys: tuple[Key, ...]
    digests: tuple[str, ...]
    result: Result


def find_match(store: ResultStore, subject: str, shapes: Iterable[Shape], today: Today) -> Match | None:
    """The first result of a subject for which all that was read is what it was; None if there is none."""
    for shape, keys in shapes:
        digests = today.digests(keys)
        if digests is not None and (result := store.find(subject, shape, digests)) is not None:
            return Match(shape, keys, tuple(digests), result)
    return None
