"""What an instance reads while it is rendered: the record that says later whether its result still holds."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.base.files.tree import add_times, lies_in
from commodore.core.engine.cache.keys import (
    CLUSTER_REFS,
    COPIED,
    DEFAULTS,
    EXISTENCE,
    FILE,
    KINDS,
    LOCATION,
    MADE,
    NAMES,
    PATTERN,
    TARGETS,
    TOOL,
    TREE,
    VALUE,
    WAY,
    WRITTEN,
    FolderTree,
    Key,
    Today,
)
from commodore.core.engine.cache.name_exposure import Escapes, find_escapes
from commodore.core.engine.cache.portable_paths import (
    MISSING,
    UNREADABLE,
    PortablePaths,
    file_digest,
    kind_of,
    matches,
    tree_digest,
)
from commodore.core.engine.remote_results import ResultShape
from commodore.core.engine.remote_results import Shape as Shape
from commodore.core.render.tool_identity import Programs, defaults_digest, tool_digest
from commodore.core.results.result_store import Result, ResultStore


class TraceRecorder:
    """Collects what one instance reads, each thing with the digest of what was found there.

    Args:
        instance: whose reads these are.
        places: how paths are named.
        programs: the identities of programs; None if nothing is to be kept: then no version is needed.
    """

    def __init__(self, instance: str, places: PortablePaths, programs: Programs | None) -> None:
        self.instance = instance
        self.places = places
        self.programs = programs
        self.found: dict[Key, str] = {}
        self.refusal = ""
        self.unseen = False
        self.is_private = False
        self._escapes = Escapes()
        self._seen: set[bytes] = set()
        self._touched: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._written: set[str] = set()
        self._fetched: tuple[str, ...] = ()
        self._times: dict[Key, str] = {}

    def refuse(self, reason: str, *, unseen: bool = True) -> None:
        """The result depends on something that cannot be observed: it is not kept.

        Args:
            unseen: whether that may be files that are not noted.
        """
        self.refusal = self.refusal or reason
        self.unseen = self.unseen or unseen

    def stay(self) -> None:
        """What is made may hold random secrets: it stays on this machine."""
        self.is_private = True

    def note(self, key: Key, digest: str) -> None:
        """Something was read, and this is what was found."""
        if digest == UNREADABLE:
            self.refuse(f"{' '.join(key)} cannot be read as a whole")
        if self.found.setdefault(key, digest) != digest:
            self.refuse(f"{' '.join(key)} changed while it was read")

    def program(self, name: str) -> None:
        """A program was run."""
        self.note(TOOL.key(name), tool_digest(name, self.programs) if self.programs is not None else "")

    def defaults(self, tool: str) -> None:
        """A program was run that takes something from the user's own configuration."""
        self.note(DEFAULTS.key(tool), defaults_digest(tool, os.environ))

    # Parameters

    def value(self, target: str, node: Mapping[str, Any], *path: str) -> None:
        """What a target's node has at a path was read."""
        self.note(VALUE.key(target, *path), VALUE.look(node, path))

    def names(self, target: str, node: Mapping[str, Any], *path: str) -> None:
        """Which keys there are was read."""
        self.note(NAMES.key(target, *path), NAMES.look(node, path))

    def settings(self, target: str) -> None:
        """A template has read how a target is compiled, which tells it where the working directory is."""
        self.location()
        if target != self.instance:
            self.refuse(f"a template reads how {target} is compiled", unseen=False)

    def location(self) -> None:
        """Where the working directory is was read."""
        self.note(LOCATION.key(), LOCATION.digest(self.places))

    def everything(self, nodes: Mapping[str, Mapping[str, Any]]) -> None:
        """All targets with all parameters were read."""
        self.targets(list(nodes))
        for name in nodes:
            self.value(name, nodes[name])
            if name != self.instance:
                self.settings(name)

    def targets(self, names: Sequence[str]) -> None:
        """Which targets there are was read."""
        self.note(TARGETS.key(), TARGETS.digest(names))

    def touched(self, target: str, node: Mapping[str, Any], key: str) -> None:
        """A target's parameters (no key) or the fields of one were handed out: their names count if a template can see
        them.
        """
        self._touched[target, key] = node

    def jsonnet(self, path: str, text: bytes) -> None:
        """A Jsonnet file takes part."""
        self.file(path, text)
        seen = hashlib.sha256(text).digest()
        if seen not in self._seen and not self.places.is_installed(path):
            self._seen.add(seen)
            found = find_escapes(text)
            self._escapes |= found
            if found.place:
                self.location()

    # Files

    def written(self, path: str) -> None:
        """The instance made this file itself, or everything in this folder."""
        path = os.path.normpath(path)
        if self.places.name(path) is not None:
            self._written.add(path)

    def fetched(self, outputs: Iterable[str]) -> None:
        """What lies here comes from dependencies, which are noted apart."""
        self._fetched = tuple(map(os.path.normpath, outputs))

    def file(self, path: str, content: bytes | None = None) -> None:
        """A file was read: these bytes. Without them another program reads it, and this has to be called before and
        afterwards, so that a change meanwhile does not go unnoticed.
        """
        name = self._name(path)
        if name is not None and content is not None:
            self.note(FILE.key(name), hashlib.sha256(content).hexdigest())
        elif name is not None:
            self._file(name, path)

    def ref_file(self, path: str) -> None:
        """The file of a reference was read. As for files without content.

        Each cluster has references of its own. What renderings have read is compared with a few lists of earlier ones,
        so those of all clusters have to be one: the path is no part of the list, but of what was found.
        """
        if self._name(path) is not None and (name := self.places.ref_file(path)) is not None:
            self._file(name, path)
            if name != self.places.name(path):
                self.note(CLUSTER_REFS.key(), CLUSTER_REFS.digest(self.places))

    def _file(self, name: str, path: str) -> None:
        times = hashlib.sha256()
        add_times(times, path)
        self.note(FILE.key(name), file_digest(path))
        self._changed_at(FILE.key(name), times.hexdigest())

    def absent(self, path: str) -> None:
        """A file was looked for, and there was none."""
        name = self._name(path)
        if name is not None:
            digest = file_digest(path)
            self.note(FILE.key(name), digest)
            if digest not in (MISSING, UNREADABLE):
                self.refuse(f"{path} appeared after it was looked for")

    def kind(self, path: str) -> str:
        """A look whether there is such a file or folder; see `kind_of`."""
        name, kind = self._name(path), kind_of(path)
        if name is not None:
            self.note(EXISTENCE.key(name), kind)
        return kind

    def pattern(self, folder: str, pattern: str) -> list[str]:
        """A look at the files that a pattern in a folder names, sorted."""
        found = matches(os.path.join(glob.escape(folder), pattern), lambda _: False)
        pattern = os.path.join(folder, pattern)
        name = self.places.name(pattern)
        if name is not None:
            others = [path for path in found if not self._is_ours(path)]
            self.note(PATTERN.key(name, *self._excluded(os.path.dirname(pattern))), PATTERN.digest(others, self.places))
        return found

    def tree(self, path: str) -> None:
        """A folder is read with all that is in it. To be called before and afterwards, as for files."""
        self._all(path, TREE)

    def copied(self, path: str) -> None:
        """A file, or a folder with all that is in it, is copied with its modes. As for folders."""
        self._all(path, COPIED)

    def _all(self, path: str, kind: FolderTree) -> None:
        name = self._name(path)
        path = os.path.normpath(path)
        if name is not None:
            key, times = kind.key(name, *self._excluded(path)), hashlib.sha256()
            self.note(key, tree_digest(path, self._is_ours, modes=kind.modes, times=times))
            self._changed_at(key, times.hexdigest())

    def _changed_at(self, key: Key, times: str) -> None:
        """Note when something was last changed: content that comes back after a change looks the same."""
        if self._times.setdefault(key, times) != times:
            self.refuse(f"{' '.join(key)} changed while it was read")

    def _name(self, path: str) -> str | None:
        """The name of a path that needs a record. It is absolute, and spelt as it was given: `..` behind a link leads
        elsewhere than its spelling tells.
        """
        plain = os.path.normpath(path)
        if os.pardir in path.split(os.sep) and os.path.realpath(path) != os.path.realpath(plain):
            self.refuse(f"{path} leads through a link")
        name = None if self._is_ours(plain) else self.places.name(plain)
        if name is not None and self._leads_to_fetched(plain):
            self.note(WAY.key(name), WAY.look(plain, (), self.places))
            return None
        return name

    def _leads_to_fetched(self, path: str) -> bool:
        """Whether a path that is spelt otherwise means something fetched, through a link."""
        real = os.path.realpath(path)
        return real != path and lies_in(real, *map(os.path.realpath, self._fetched))

    def wrote(self, path: str) -> bool:
        """Whether the instance made a file itself."""
        return lies_in(path, *self._written)

    def outside(self) -> tuple[tuple[str, int, bytes], ...]:
        """The files that the instance has written outside of its folder, with their names, modes and contents."""
        found = []
        for path in sorted(self._written):
            name = self.places.name(path)
            if name is not None and os.path.isfile(path):
                with open(path, "rb") as file:
                    found.append((name, stat.S_IMODE(os.stat(path).st_mode), file.read()))
        return tuple(found)

    def _is_ours(self, path: str) -> bool:
        """Whether the instance wrote a file, or has fetched it."""
        return lies_in(path, *self._written, *self._fetched)

    def _excluded(self, folder: str) -> list[str]:
        """What a later look at a folder leaves out, by name."""
        inside = os.path.normpath(folder) + os.sep
        found = {self.places.name(path) for path in (*self._written, *self._fetched) if path.startswith(inside)}
        return sorted(name for name in found if name is not None)

    # The end

    def absorb(self, found: Mapping[Key, str], places: PortablePaths) -> None:
        """Note what a part of the instance has read, which has a record of its own.

        Args:
            places: how the part's record names paths: more of them than this one.
        """
        for key, digest in found.items():
            if KINDS[key[0]] not in (FILE, EXISTENCE, TREE):
                self.note(key, digest)
                continue
            path = places.path(key[1])
            if self._name(path) is None:
                continue
            if key[0] == TREE.name and self._excluded(path):
                self.tree(path)
                if tree_digest(path) != digest:
                    self.refuse(f"{path} changed while it was read")
            else:
                self.note(key, digest)

    def conclude(self) -> dict[Key, str]:
        """Everything that was read, with the names that templates could see. Programs have to be what they were."""
        self._look_again()
        for (target, key), node in self._touched.items():
            if key and (self._escapes.everything or self._escapes.any_key or key in self._escapes.keys):
                self.names(target, node, "parameters", key)
            elif not key and self._escapes.everything:
                self.names(target, node, "parameters")
        for path in self._written:
            self.note(WRITTEN.key(self.places.name(path) or ""), MADE)
        return dict(self.found)

    def _look_again(self) -> None:
        for key in list(self.found):
            if key[0] == DEFAULTS.name:
                self.defaults(key[1])
            elif key[0] == TOOL.name and self.programs is not None and self.programs.has_changed(key[1]):
                self.refuse(f"the program {key[1]} changed while it was used")


@dataclass(frozen=True, slots=True)
class Match:
    """A result that still holds.

    Args:
        subject: under what name it is kept.
        shape: the name of the list of things that were read.
        keys: that list.
        digests: what was found for each of them, then and today.
        brought: whether this run has brought it from a remote store.
    """

    subject: str
    shape: str
    keys: tuple[Key, ...]
    digests: tuple[str, ...]
    result: Result
    brought: bool = False


def find_match(store: ResultStore, subject: str, shapes: Iterable[Shape], today: Today) -> Match | None:
    """The first result of a subject for which all that was read is what it was; None if there is none."""
    for shape, keys in shapes:
        digests = today.digests(keys)
        if digests is not None and (result := store.find(subject, shape, digests)) is not None:
            return Match(subject, shape, keys, tuple(digests), result)
    return None


def usable(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Shapes of other machines, without those that read what is unknown here."""
    return tuple(
        (name, keys)
        for name, keys in shapes
        if all((kind := KINDS.get(key[0])) is not None and kind.fits(key[1:]) for key in keys)
    )


def wanted(subject: str, shapes: Iterable[Shape], today: Today) -> Iterator[ResultShape]:
    """The results of a subject that would hold today, wherever they are."""
    for _, keys in shapes:
        digests = today.digests(keys)
        if digests is not None:
            yield ResultShape(subject, keys, tuple(digests))
