"""Kinds of inputs of instances: each is a class with its name in records, its digest, and its description.

A record is a map of keys to digests. A key is the kind of an input and its name. `TraceRecorder` records keys while an
instance is rendered; `CurrentState` returns the current digests of the same inputs.
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
"""The digest of files that an instance has written itself: they depend on its other inputs only."""

Topic = Literal["value", "names", "targets", "file", "existence", "tree", "pattern", "source", "program", ""]
"""The heading under which inputs are shown to the user; empty for hidden ones."""


class SourceDigests(Protocol):
    """Current identities of remote sources."""

    def digest(self, key: Key) -> str | None:
        """Return the identity of a source; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """Inputs other than parameters and files.

    Args:
        instance: the instance of the record.
        programs: the identities of programs.
        sources: the identities of sources.
        environment: the environment variables of programs.
    """

    instance: str
    programs: Programs
    sources: SourceDigests
    environment: Mapping[str, str]


class CurrentState:
    """Computes the current digests of recorded inputs.

    Args:
        places: the current names of paths.
        nodes: the current rendered inventory.
        memory: a cache of the digests of files by path, which several instances may share.
        world: None to compare parameters and files only: no network access, no program is run.
    """

    def __init__(
        self,
        places: PortablePaths,
        nodes: Nodes,
        memory: dict[Key, str] | None = None,
        world: RunEnvironment | None = None,
    ) -> None:
        self.places = places
        self.nodes = nodes
        self.memory = {} if memory is None else memory
        self.world = world

    def digest(self, key: Key) -> str | None:
        """Return the current digest of an input; None if it is unknown."""
        kind = KINDS.get(key[0])
        return kind.observe(key[1:], self) if kind is not None else None

    def digests(self, keys: Sequence[Key]) -> list[str] | None:
        """Return the current digests of inputs; None if one of them is unknown."""
        digests: list[str] = []
        for key in keys:
            digest = self.digest(key)
            if digest is None:
                return None
            digests.append(digest)
        return digests


class ReadKind(ABC):
    """A kind of input."""

    name: ClassVar[str]
    topic: ClassVar[Topic] = ""
    is_single: ClassVar[bool] = False
    """There is only one input of this kind, so its key is the name of the kind."""

    def fits(self, which: Key) -> bool:
        """Check that a key can be of this kind: keys from other machines may be invalid.

        Args:
            which: the key without the name of the kind.
        """
        return bool(which) != self.is_single

    def key(self, *which: str) -> Key:
        """Return the key of an input of this kind."""
        return (self.name, *which)

    @abstractmethod
    def observe(self, which: Key, current: CurrentState) -> str | None:
        """Return the current digest; None if it is unknown.

        Args:
            which: the key without the name of the kind.
        """

    def describe(self, which: Key) -> str:
        """Describe the input."""
        return which[0] if which else self.name


class Value(ReadKind):
    """The value of a target's node at a path of keys."""

    name = "value"
    topic: ClassVar[Topic] = "value"
    look = staticmethod(value_at)

    def observe(self, which: Key, current: CurrentState) -> str | None:
        node = current.nodes.get(which[0])
        return self.look(node, which[1:]) if node is not None else MISSING


class Names(Value):
    """The names of the keys at a path of a target's node."""

    name, topic = "names", "names"
    look = staticmethod(names_at)


class Targets(ReadKind):
    """The names of all targets."""

    name, topic = "targets", "targets"
    is_single = True

    @staticmethod
    def digest(names: Sequence[str]) -> str:
        return value_digest(sorted(names))

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return self.digest(list(current.nodes))


class Location(ReadKind):
    """The path of the working directory."""

    name = "root"
    is_single = True

    @staticmethod
    def digest(places: PortablePaths) -> str:
        return value_digest(list(places.folders))

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return self.digest(current.places) if current.world is not None else None


class ClusterRefs(ReadKind):
    """The folder with the ref files of the cluster; the names of ref files do not contain it."""

    name = "cluster-refs"
    is_single = True

    @staticmethod
    def digest(places: PortablePaths) -> str:
        return value_digest(places.cluster_refs)

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return self.digest(current.places) if current.world is not None else None


class InstanceSettings(ReadKind):
    """The settings of the instance itself."""

    name = "settings"
    is_single = True

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return (
            settings_digest(current.nodes[current.world.instance], current.places)
            if current.world is not None
            else None
        )


class Tool(ReadKind):
    """The identity of a program."""

    name, topic = "tool", "program"

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return tool_digest(which[0], current.world.programs) if current.world is not None else None


class Defaults(ReadKind):
    """The user's own configuration of a program."""

    name = "defaults"

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return defaults_digest(which[0], current.world.environment) if current.world is not None else None


class FetchedSource(ReadKind):
    """The source of fetched files: a commit, a chart of a version, the content of a download."""

    name, topic = "source", "source"
    texts: ClassVar[Mapping[str, int]] = {"http": 2, "git": 3, "helm": 4}  # at least, by what is fetched

    def fits(self, which: Key) -> bool:
        return bool(which) and len(which) >= self.texts.get(which[0], math.inf)

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return current.world.sources.digest(self.key(*which)) if current.world is not None else None

    def describe(self, which: Key) -> str:
        kind, url, *rest = which
        if kind == "helm":
            return f"chart {rest[0]} {rest[1]} from {url}"
        if kind == "git":
            ref = "the default branch" if rest[0].startswith("\0") else rest[0]
            return f"{url} at {ref}" + (f", folder {rest[2]}" if len(rest) > 2 and rest[2] else "")
        return url


class Written(ReadKind):
    """A file that the instance itself writes outside of its folder."""

    name = "written"

    def observe(self, which: Key, current: CurrentState) -> str | None:
        return MADE


class PathKind(ReadKind):
    """A kind of input that has a path."""

    is_folder: ClassVar[bool] = False
    """True for a folder with all its files, except for the further paths in the key."""

    def path(self, which: Key, places: PortablePaths) -> str:
        """Return its path."""
        return places.path(which[0])

    def touched(self, which: Key, places: PortablePaths) -> str:
        """Return the path below which no change is allowed."""
        return self.path(which, places)

    def excluded(self, which: Key, places: PortablePaths) -> Iterator[str]:
        """Return the paths in it that are ignored."""
        return map(places.path, which[1:])

    def observe(self, which: Key, current: CurrentState) -> str | None:
        path = self.path(which, current.places)
        known = (self.name, path, *which[1:])
        if known not in current.memory:
            current.memory[known] = self.look(path, tuple(self.excluded(which, current.places)), current.places)
        return current.memory[known]

    @abstractmethod
    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        """Return the digest of the file or folder at a path."""


class LinkTarget(PathKind):
    """The target of a path with all links resolved, which need not exist."""

    name = "way"

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        real = os.path.realpath(path)
        return places.name(real) or real


class File(PathKind):
    """The content of a file, or its absence."""

    name, topic = "file", "file"

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        return file_digest(path)


class Existence(PathKind):
    """The existence of a file or a folder."""

    name, topic = "kind", "existence"

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        return kind_of(path)


class FolderTree(PathKind):
    """A folder with all its files."""

    name, topic = "tree", "tree"
    is_folder = True
    modes: ClassVar[bool] = False
    """True if all bits of modes are compared."""

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        if excluded and not os.path.lexists(path):
            return empty_digest(modes=self.modes)  # the ignored files will be written there
        return tree_digest(path, lambda inner: lies_in(inner, *excluded), modes=self.modes)


class Copied(FolderTree):
    """A file or a folder, with the modes that a copy gets."""

    name = "copied"
    modes = True


class Pattern(PathKind):
    """The paths that match a pattern."""

    name, topic = "glob", "pattern"

    def path(self, which: Key, places: PortablePaths) -> str:
        return places.pattern(which[0])

    def touched(self, which: Key, places: PortablePaths) -> str:
        root, _, pattern = which[0].partition(":")
        while glob.has_magic(pattern):
            pattern = os.path.dirname(pattern)
        return places.path(f"{root}:{pattern}")

    def look(self, path: str, excluded: tuple[str, ...], places: PortablePaths) -> str:
        return self.digest(matches(path, lambda match: lies_in(match, *excluded)), places)

    @staticmethod
    def digest(hits: Sequence[str], places: PortablePaths) -> str:
        return value_digest([places.name(hit) for hit in hits])


VALUE, NAMES, TARGETS, LOCATION, SETTINGS = Value(), Names(), Targets(), Location(), InstanceSettings()
CLUSTER_REFS = ClusterRefs()
TOOL, DEFAULTS, SOURCE, WRITTEN = Tool(), Defaults(), FetchedSource(), Written()
LINK, FILE, EXISTENCE, TREE, COPIED, PATTERN = LinkTarget(), File(), Existence(), FolderTree(), Copied(), Pattern()

KINDS: Mapping[str, ReadKind] = {
    kind.name: kind
    for kind in (
        *(VALUE, NAMES, TARGETS, LOCATION, CLUSTER_REFS, SETTINGS, TOOL, DEFAULTS, SOURCE, WRITTEN),
        *(LINK, FILE, EXISTENCE, TREE, COPIED, PATTERN),
    )
}
"""All kinds of inputs by their names. A new one is a class, and a line here."""


def path_keys(keys: Iterable[Key]) -> Iterator[tuple[PathKind, Key, Key]]:
    """Yield the keys of inputs with a path: the kind, the key, and the key without the name of its kind."""
    for key in keys:
        kind = KINDS.get(key[0])
        if isinstance(kind, PathKind):
            yield kind, key, key[1:]
