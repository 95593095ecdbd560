"""What instances read: each kind of thing is one class, with its name in records, its digest, its words for people.

A record is a map of keys to digests. A key is what kind of thing was read, and which one. `TraceRecorder` notes keys
while an instance is rendered; `Today` looks at the same things again.
"""

from __future__ import annotations

import glob
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from commodore.base.files.tree import lies_in
from commodore.core.engine.cache.portable_paths import (
    MISSING,
    PortablePaths,
    empty_digest,
    file_digest,
    kind_of,
    matches,
    names_at,
    tree_digest,
    value_at,
    value_digest,
)
from commodore.core.engine.cache.static_key import settings_digest
from commodore.core.render.tool_identity import Programs, defaults_digest, tool_digest
from commodore.core.results.result_store import Key as Key

Nodes = Mapping[str, Mapping[str, Any]]
"""The rendered inventory: every target with its node."""

MADE = "made"
"""The digest of what an instance has made itself: it depends on nothing else."""

Topic = Literal["value", "names", "targets", "file", "existence", "tree", "pattern", "source", "program", ""]
"""The heading under which a kind of read is shown to the user; empty for what is not shown."""


class SourceDigests(Protocol):
    """Identities of remote sources today."""

    def digest(self, key: Key) -> str | None:
        """The identity of a source; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class World:
    """What else there is to look at than parameters and files.

    Args:
        instance: whose record is looked at.
        programs: the identities of programs.
        sources: tells what sources are today.
        environment: what programs are run with.
    """

    instance: str
    programs: Programs
    sources: SourceDigests
    environment: Mapping[str, str]


class Today:
    """Gives today's digest of what was once read.

    Args:
        places: how paths are named today.
        nodes: the rendered inventory of today.
        memory: digests of files by path, shared by all that may rely on each other's look.
        world: None to look at parameters and files only: no network access, no program is run.
    """

    def __init__(
        self, places: PortablePaths, nodes: Nodes, memory: dict[Key, str] | None = None, world: World | None = None
    ) -> None:
        self.places = places
        self.nodes = nodes
        self.memory = {} if memory is None else memory
        self.world = world

    def digest(self, key: Key) -> str | None:
        """The digest as of now; None if it is unknown."""
        kind = KINDS.get(key[0])
        return kind.observe(key[1:], self) if kind is not None else None

    def digests(self, keys: Sequence[Key]) -> list[str] | None:
        """The digests as of now; None if one is unknown."""
        found: list[str] = []
        for key in keys:
            digest = self.digest(key)
            if digest is None:
                return None
            found.append(digest)
        return found


class ReadKind(ABC):
    """A kind of thing that can be read."""

    name: ClassVar[str]
    topic: ClassVar[Topic] = ""
    is_single: ClassVar[bool] = False
    """There is one thing of this kind, so that its key is the name of the kind alone."""

    def fits(self, which: Key) -> bool:
        """Check that a key can be of this kind: those from other machines may be anything.

        Args:
            which: the key without the name of the kind.
        """
        return bool(which) != self.is_single

    def key(self, *which: str) -> Key:
        """How a record names one thing of this kind."""
        return (self.name, *which)

    @abstractmethod
    def observe(self, which: Key, today: Today) -> str | None:
        """The digest as of now; None if it is unknown.

        Args:
            which: the key without the name of the kind.
        """

    def describe(self, which: Key) -> str:
        """The thing in words."""
        return which[0] if which else self.name


class Value(ReadKind):
    """What a target's node has at a path of keys."""

    name = "value"
    topic: ClassVar[Topic] = "value"
    look = staticmethod(value_at)

    def observe(self, which: Key, today: Today) -> str | None:
        node = today.nodes.get(which[0])
        return self.look(node, which[1:]) if node is not None else MISSING


class Names(Value):
    """Which keys there are at a path of a target's node."""

    name, topic = "names", "names"
    look = staticmethod(names_at)


class Targets(ReadKind):
    """Which targets there are."""

    name, topic = "targets", "targets"
    is_single = True

    @staticmethod
    def digest(names: Sequence[str]) -> str:
        return value_digest(sorted(names))

    def observe(self, which: Key, today: Today) -> str | None:
        return self.digest(list(today.nodes))


class Location(ReadKind):
    """Where the working directory is."""

    name = "root"
    is_single = True

    @staticmethod
    def digest(places: PortablePaths) -> str:
        return value_digest(list(places.folders))

    def observe(self, which: Key, today: Today) -> str | None:
        return self.digest(today.places) if today.world is not None else None


class ClusterRefs(ReadKind):
    """Which folder has the ref files of the cluster, whose names do not tell."""

    name = "cluster-refs"
    is_single = True

    @staticmethod
    def digest(places: PortablePaths) -> str:
        return value_digest(places.cluster_refs)

    def observe(self, which: Key, today: Today) -> str | None:
        return self.digest(today.places) if today.world is not None else None


class InstanceSettings(ReadKind):
    """What is to be done for the instance itself."""

    name = "settings"
    is_single = True

    def observe(self, which: Key, today: Today) -> str | None:
        return settings_digest(today.nodes[today.world.instance], today.places) if today.world is not None else None


class Tool(ReadKind):
    """The identity of a program."""

    name, topic = "tool", "program"

    def observe(self, which: Key, today: Today) -> str | None:
        return tool_digest(which[0], today.world.programs) if today.world is not None else None


class Defaults(ReadKind):
    """What a program takes from the user's own configuration."""

    name = "defaults"

    def observe(self, which: Key, today: Today) -> str | None:
        return defaults_digest(which[0], today.world.environment) if today.world is not None else None


class FetchedSource(ReadKind):
    """What fetched files come from: a commit, a chart of a version, the content of a download."""

    name, topic = "source", "source"
    texts: ClassVar[Mapping[str, int]] = {"http": 2, "git": 3, "helm": 4}  # at least, by what is fetched

    def fits(self, which: Key) -> bool:
        return bool(which) and len(which) >= self.texts.get(which[0], math.inf)

    def observe(self, which: Key, today: Today) -> str | None:
        return today.world.sources.digest(self.key(*which)) if today.world is not None else None

    def describe(self, which: Key) -> str:
        kind, url, *rest = which
        if kind == "helm":
            return f"chart {rest[0]} {rest[1]} from {url}"
        if kind == "git":
            ref = "the default branch" if rest[0].startswith("\0") else rest[0]
            return f"{url} at {ref}" + (f", folder {rest[2]}" if len(rest) > 2 and rest[2] else "")
        return url


class Written(ReadKind):
    """What the instance itself writes outside of its folder."""

    name = "written"

    def observe(self, which: Key, today: Today) -> str | None:
        return MADE


class Placed(ReadKind):
    """A kind of thing that lies at a path."""

    is_folder: ClassVar[bool] = False
    """Whether it is a folder with all that is in it, without what lies at the paths that follow in the key."""

    def path(self, which: Key, places: PortablePaths) -> str:
        """Where it lies."""
        return places.path(which[0])

    def touched(self, which: Key, places: PortablePaths) -> str:
        """The path below which nothing may change."""
        return self.path(which, places)

    def excluded(self, which: Key, places: PortablePaths) -> Iterator[str]:
        """The paths in it that do not count."""
        return map(places.path, which[1:])

    def observe(self, which: Key, today: Today) -> str | None:
        path = self.path(which, today.places)
        known = (self.name, path, *which[1:])
        if known not in today.memory:
            today.memory[known] = self.look(path, tuple(self.excluded(which, today.places)), today.places)
        return today.memory[known]

    @abstractmethod
    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        """The digest of what lies at a path."""


class Way(Placed):
    """Where a path leads, with all links followed; what it leads to need not be there."""

    name = "way"

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        real = os.path.realpath(path)
        return places.name(real) or real


class File(Placed):
    """The content of a file, or that there is none."""

    name, topic = "file", "file"

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        return file_digest(path)


class Existence(Placed):
    """Whether a file or a folder is there."""

    name, topic = "kind", "existence"

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        return kind_of(path)


class FolderTree(Placed):
    """A folder with all that is in it."""

    name, topic = "tree", "tree"
    is_folder = True
    modes: ClassVar[bool] = False
    """Whether all bits of modes count."""

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        if excluded and not os.path.lexists(path):
            return empty_digest(modes=self.modes)  # what is left out will be put there
        return tree_digest(path, lambda found: lies_in(found, *excluded), modes=self.modes)


class Copied(FolderTree):
    """A file or a folder, with the modes that a copy of it gets."""

    name = "copied"
    modes = True


class Pattern(Placed):
    """The paths that a pattern names."""

    name, topic = "glob", "pattern"

    def path(self, which: Key, places: PortablePaths) -> str:
        return places.pattern(which[0])

    def touched(self, which: Key, places: PortablePaths) -> str:
        root, _, pattern = which[0].partition(":")
        while glob.has_magic(pattern):
            pattern = os.path.dirname(pattern)
        return places.path(f"{root}:{pattern}")

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        return self.digest(matches(path, lambda found: lies_in(found, *excluded)), places)

    @staticmethod
    def digest(hits: Sequence[str], places: PortablePaths) -> str:
        return value_digest([places.name(hit) for hit in hits])


VALUE, NAMES, TARGETS, LOCATION, SETTINGS = Value(), Names(), Targets(), Location(), InstanceSettings()
CLUSTER_REFS = ClusterRefs()
TOOL, DEFAULTS, SOURCE, WRITTEN = Tool(), Defaults(), FetchedSource(), Written()
WAY, FILE, EXISTENCE, TREE, COPIED, PATTERN = Way(), File(), Existence(), FolderTree(), Copied(), Pattern()

KINDS: Mapping[str, ReadKind] = {
    kind.name: kind
    for kind in (
        *(VALUE, NAMES, TARGETS, LOCATION, CLUSTER_REFS, SETTINGS, TOOL, DEFAULTS, SOURCE, WRITTEN),
        *(WAY, FILE, EXISTENCE, TREE, COPIED, PATTERN),
    )
}
"""All kinds of reads by their names. A new one is a class, and a line here."""


def placed(keys: Iterable[Key]) -> Iterator[tuple[Placed, Key, Key]]:
    """The keys of what lies at paths: each with its kind, and without the name of that."""
    for key in keys:
        kind = KINDS.get(key[0])
        if isinstance(kind, Placed):
            yield kind, key, key[1:]
