"""Record the inputs of an instance while it is rendered. The record decides later if its result is valid."""

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
    LINK,
    LOCATION,
    MADE,
    NAMES,
    PATTERN,
    TARGETS,
    TOOL,
    TREE,
    VALUE,
    WRITTEN,
    CurrentState,
    FolderTree,
    Key,
)
from commodore.core.engine.cache.name_exposure import Exposure, find_exposure
from commodore.core.engine.cache.portable_paths import (
    MISSING,
    UNREADABLE,
    PortablePaths,
    file_digest,
    kind_of,
    matches,
    tree_digest,
)
from commodore.core.engine.remote_results import RequestedResult
from commodore.core.engine.remote_results import Shape as Shape
from commodore.core.render.tool_identity import Programs, defaults_digest, tool_digest
from commodore.core.results.result_store import Result, ResultStore


class TraceRecorder:
    """Records the inputs of one instance with their digests.

    Args:
        instance: the instance.
        places: the names of paths.
        programs: the identities of programs; None if nothing is stored: then no version is needed.
    """

    def __init__(self, instance: str, places: PortablePaths, programs: Programs | None) -> None:
        self.instance = instance
        self.places = places
        self.programs = programs
        self.digests: dict[Key, str] = {}
        self.refusal = ""
        self.unseen = False
        self.is_private = False
        self._exposure = Exposure()
        self._seen: set[bytes] = set()
        self._touched: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._written: set[str] = set()
        self._fetched: tuple[str, ...] = ()
        self._times: dict[Key, str] = {}

    def refuse(self, reason: str, *, unseen: bool = True) -> None:
        """Do not store the result, as it depends on an input that cannot be observed.

        Args:
            unseen: whether that may be files that are not recorded.
        """
        self.refusal = self.refusal or reason
        self.unseen = self.unseen or unseen

    def stay(self) -> None:
        """Do not write the result to remote stores, as it may contain random secrets."""
        self.is_private = True

    def note(self, key: Key, digest: str) -> None:
        """Record an input and its digest."""
        if digest == UNREADABLE:
            self.refuse(f"{' '.join(key)} cannot be read as a whole")
        if self.digests.setdefault(key, digest) != digest:
            self.refuse(f"{' '.join(key)} changed while it was read")

    def program(self, name: str) -> None:
        """Record that a program was run."""
        self.note(TOOL.key(name), tool_digest(name, self.programs) if self.programs is not None else "")

    def defaults(self, tool: str) -> None:
        """Record that a program was run that reads the user's own configuration."""
        self.note(DEFAULTS.key(tool), defaults_digest(tool, os.environ))

    # Parameters

    def value(self, target: str, node: Mapping[str, Any], *path: str) -> None:
        """Record that the value of a target's node at a path was read."""
        self.note(VALUE.key(target, *path), VALUE.look(node, path))

    def names(self, target: str, node: Mapping[str, Any], *path: str) -> None:
        """Record that the names of the keys at a path of a target's node were read."""
        self.note(NAMES.key(target, *path), NAMES.look(node, path))

    def settings(self, target: str) -> None:
        """Record that a template has read a target's Kapitan settings, which contain the path of
        the working directory.
        """
        self.location()
        if target != self.instance:
            self.refuse(f"a template reads the Kapitan settings of {target}", unseen=False)

    def location(self) -> None:
        """Record that the path of the working directory was read."""
        self.note(LOCATION.key(), LOCATION.digest(self.places))

    def everything(self, nodes: Mapping[str, Mapping[str, Any]]) -> None:
        """Record that all targets with all parameters were read."""
        self.targets(list(nodes))
        for name in nodes:
            self.value(name, nodes[name])
            if name != self.instance:
                self.settings(name)

    def targets(self, names: Sequence[str]) -> None:
        """Record that the names of all targets were read."""
        self.note(TARGETS.key(), TARGETS.digest(names))

    def touched(self, target: str, node: Mapping[str, Any], key: str) -> None:
        """Record that a target's parameters (no key) or the fields of a parameter were returned: their names are an
        input if a template can see them.
        """
        self._touched[target, key] = node

    def jsonnet(self, path: str, text: bytes) -> None:
        """Record that a Jsonnet file was evaluated or imported."""
        self.file(path, text)
        seen = hashlib.sha256(text).digest()
        if seen not in self._seen and not self.places.is_installed(path):
            self._seen.add(seen)
            exposure = find_exposure(text)
            self._exposure |= exposure
            if exposure.place:
                self.location()

    # Files

    def written(self, path: str) -> None:
        """Record that the instance has written this file itself, or all files in this folder."""
        path = os.path.normpath(path)
        if self.places.name(path) is not None:
            self._written.add(path)

    def fetched(self, outputs: Iterable[str]) -> None:
        """Set the output paths of fetched dependencies, whose sources are recorded separately."""
        self._fetched = tuple(map(os.path.normpath, outputs))

    def file(self, path: str, content: bytes | None = None) -> None:
        """Record that a file was read, with its content. Without content, another program reads it: then this has to be
        called before and afterwards, to detect a change in between.
        """
        name = self._name(path)
        if name is not None and content is not None:
            self.note(FILE.key(name), hashlib.sha256(content).hexdigest())
        elif name is not None:
            self._file(name, path)

    def ref_file(self, path: str) -> None:
        """Record that the file of a reference was read. As `file` without content.

        Each cluster has references of its own. Only a few shapes of earlier renderings are compared, so all clusters
        have to share one: the cluster's path is not a part of the key, but of the digest.
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
        """Record that a file was looked for and does not exist."""
        name = self._name(path)
        if name is not None:
            digest = file_digest(path)
            self.note(FILE.key(name), digest)
            if digest not in (MISSING, UNREADABLE):
                self.refuse(f"{path} appeared after it was looked for")

    def kind(self, path: str) -> str:
        """Return the kind of a path and record it; see `kind_of`."""
        name, kind = self._name(path), kind_of(path)
        if name is not None:
            self.note(EXISTENCE.key(name), kind)
        return kind

    def pattern(self, folder: str, pattern: str) -> list[str]:
        """Return the files that match a pattern in a folder, sorted, and record them."""
        hits = matches(os.path.join(glob.escape(folder), pattern), lambda _: False)
        pattern = os.path.join(folder, pattern)
        name = self.places.name(pattern)
        if name is not None:
            others = [path for path in hits if not self._is_ours(path)]
            self.note(PATTERN.key(name, *self._excluded(os.path.dirname(pattern))), PATTERN.digest(others, self.places))
        return hits

    def tree(self, path: str) -> None:
        """Record that a folder is read with all its files. To be called before and afterwards, as for files."""
        self._all(path, TREE)

    def copied(self, path: str) -> None:
        """Record that a file, or a folder with all its files, is copied with its modes. As for folders."""
        self._all(path, COPIED)

    def _all(self, path: str, kind: FolderTree) -> None:
        name = self._name(path)
        path = os.path.normpath(path)
        if name is not None:
            key, times = kind.key(name, *self._excluded(path)), hashlib.sha256()
            self.note(key, tree_digest(path, self._is_ours, modes=kind.modes, times=times))
            self._changed_at(key, times.hexdigest())

    def _changed_at(self, key: Key, times: str) -> None:
        """Compare the modification times of both calls: content that was changed and changed back
        has the same digest.
        """
        if self._times.setdefault(key, times) != times:
            self.refuse(f"{' '.join(key)} changed while it was read")

    def _name(self, path: str) -> str | None:
        """Return the name of a path, None if it is not recorded. The path is absolute and not normalized: `..` after a
        link does not lead to the parent in the text.
        """
        plain = os.path.normpath(path)
        if os.pardir in path.split(os.sep) and os.path.realpath(path) != os.path.realpath(plain):
            self.refuse(f"{path} leads through a link")
        name = None if self._is_ours(plain) else self.places.name(plain)
        if name is not None and self._leads_to_fetched(plain):
            self.note(LINK.key(name), LINK.look(plain, (), self.places))
            return None
        return name

    def _leads_to_fetched(self, path: str) -> bool:
        """Check if a path leads to a fetched file through a link."""
        real = os.path.realpath(path)
        return real != path and lies_in(real, *map(os.path.realpath, self._fetched))

    def wrote(self, path: str) -> bool:
        """Check if the instance has written a file itself."""
        return lies_in(path, *self._written)

    def outside(self) -> tuple[tuple[str, int, bytes], ...]:
        """Return the files that the instance has written outside of its folder, with their names,
        modes and contents.
        """
        files = []
        for path in sorted(self._written):
            name = self.places.name(path)
            if name is not None and os.path.isfile(path):
                with open(path, "rb") as file:
                    files.append((name, stat.S_IMODE(os.stat(path).st_mode), file.read()))
        return tuple(files)

    def _is_ours(self, path: str) -> bool:
        """Check if the instance has written or fetched a file."""
        return lies_in(path, *self._written, *self._fetched)

    def _excluded(self, folder: str) -> list[str]:
        """Return the names of paths in a folder to ignore in a later comparison."""
        inside = os.path.normpath(folder) + os.sep
        names = {self.places.name(path) for path in (*self._written, *self._fetched) if path.startswith(inside)}
        return sorted(name for name in names if name is not None)

    # The end

    def absorb(self, inputs: Mapping[Key, str], places: PortablePaths) -> None:
        """Record the inputs of a part of the instance, which has a record of its own.

        Args:
            places: the names of paths in the part's record, which has more of them than this one.
        """
        for key, digest in inputs.items():
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
        """Return all inputs, with the names that templates could see. Checks that programs are unchanged."""
        self._look_again()
        for (target, key), node in self._touched.items():
            if key and (self._exposure.everything or self._exposure.any_key or key in self._exposure.keys):
                self.names(target, node, "parameters", key)
            elif not key and self._exposure.everything:
                self.names(target, node, "parameters")
        for path in self._written:
            self.note(WRITTEN.key(self.places.name(path) or ""), MADE)
        return dict(self.digests)

    def _look_again(self) -> None:
        for key in list(self.digests):
            if key[0] == DEFAULTS.name:
                self.defaults(key[1])
            elif key[0] == TOOL.name and self.programs is not None and self.programs.has_changed(key[1]):
                self.refuse(f"the program {key[1]} changed while it was used")


@dataclass(frozen=True, slots=True)
class Match:
    """A valid result.

    Args:
        subject: its subject.
        shape: the digest of its list of inputs.
        keys: that list.
        digests: the digest of each input, unchanged since.
        brought: whether this run has copied it from a remote store.
    """

    subject: str
    shape: str
    keys: tuple[Key, ...]
    digests: tuple[str, ...]
    result: Result
    brought: bool = False


def find_match(store: ResultStore, subject: str, shapes: Iterable[Shape], current: CurrentState) -> Match | None:
    """Return the first result of a subject whose inputs are unchanged, or None."""
    for shape, keys in shapes:
        digests = current.digests(keys)
        if digests is not None and (result := store.find(subject, shape, digests)) is not None:
            return Match(subject, shape, keys, tuple(digests), result)
    return None


def usable(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return shapes of other machines, without ones with inputs of unknown kinds."""
    return tuple(
        (name, keys)
        for name, keys in shapes
        if all((kind := KINDS.get(key[0])) is not None and kind.fits(key[1:]) for key in keys)
    )


def requested_results(subject: str, shapes: Iterable[Shape], current: CurrentState) -> Iterator[RequestedResult]:
    """Yield the results of a subject that would be valid now, to request from remote stores."""
    for _, keys in shapes:
        digests = current.digests(keys)
        if digests is not None:
            yield RequestedResult(subject, keys, tuple(digests))
