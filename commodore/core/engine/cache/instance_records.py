"""What the instances of a working directory have read, for those who ask later why a manifest is as it is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.files.sealed import read_note, write_note
from commodore.base.files.tree import lies_in
from commodore.base.files.workspace import Workspace
from commodore.core.engine.cache.keys import FILE, KINDS, PATTERN, TARGETS, WRITTEN, Key, Today, Topic, placed
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.static_key import installed
from commodore.core.engine.tasks import BatchRun, Record


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    """What one instance has read when it was last rendered.

    Args:
        reads: each thing that was read: its kind and its name. See `commodore.core.engine.cache.keys`.
        digests: what was found there, one for each.
        reused: whether the last run has taken the result of an earlier one.
        refusal: why its result cannot be kept for other runs; empty if it can.
        unseen: whether it may have read files that are not among these things.
    """

    instance: str
    component: str
    reads: tuple[tuple[str, ...], ...]
    reused: bool
    refusal: str
    digests: tuple[str, ...] = ()
    unseen: bool = False

    def about(self, *topics: Topic) -> Iterator[tuple[Topic, Key]]:
        """The reads that are shown to the user under these topics, each with its own."""
        for key in self.reads:
            kind = KINDS.get(key[0])
            if kind is not None and kind.topic in topics:
                yield kind.topic, key

    def words(self, topic: Topic) -> tuple[str, ...]:
        """The reads of a topic in words, each once, sorted."""
        return tuple(sorted({KINDS[key[0]].describe(key[1:]) for _, key in self.about(topic)}))


def write_record(run: BatchRun, instance: str, record: Record, *, reused: bool) -> None:
    """Keep an instance's record in the working directory. A disk that refuses costs an explanation and nothing else."""
    root = run.held(run.request.root)
    places = PortablePaths.of(run, instance, installed())
    found = {
        FILE.key(places.of_this_cluster(key[1])) if key[0] == FILE.name else key: digest
        for key, digest in record.found.items()
    }
    keys = sorted(found)
    content = {
        "component": run.jobs[instance].component,
        "reads": keys,
        "digests": [found[key] for key in keys],
        "reused": reused,
        "refusal": record.refusal,
        "unseen": record.unseen,
    }
    write_note(_file(root, instance), content, "record", root=root)


def read_record(root: Path, instance: str) -> InstanceRecord | None:
    """The record of an instance; None if there is none."""
    with contextlib.suppress(KeyError, TypeError):
        content = read_note(_file(root, instance), "record")
        reads = tuple(tuple(map(str, key)) for key in content["reads"])
        digests = tuple(map(str, content["digests"]))
        if len(digests) == len(reads):
            component, refusal = str(content["component"]), str(content["refusal"])
            reused, unseen = bool(content["reused"]), bool(content.get("unseen"))
            return InstanceRecord(instance, component, reads, reused, refusal, digests, unseen)
    return None


def read_place(root: Path, directory: Path, name: str) -> Path:
    """Where a file or folder of a record is.

    Args:
        root: the working directory.
        directory: the instance's component directory.
        name: what the record calls it.
    """
    return Path(_places(root, directory).path(name))


def changed_reads(
    record: InstanceRecord, root: Path, directory: Path, nodes: Mapping[str, Mapping[str, Any]]
) -> frozenset[Key]:
    """What is different today. Only parameters and files are looked at: no network access, no program is run.

    Args:
        nodes: the rendered targets of today, at least those that the record names.
    """
    today = Today(_places(root, directory), nodes)
    pairs = zip(record.reads, record.digests, strict=True)
    return frozenset(key for key, digest in pairs if today.digest(key) not in (None, digest) and key != TARGETS.key())


def _places(root: Path, directory: Path) -> PortablePaths:
    places = {"component": directory, "refs": Workspace(root).refs, "output": root, "root": root, "directory": root}
    return PortablePaths(places, ())


def _file(root: Path, instance: str) -> Path:
    return Workspace(root).state / "records" / f"{instance}.json"


class FilesRead:
    """What the instances of one compile have read of files, those that failed included.

    Args:
        records: the runs of the compile, each with the records of its instances.
    """

    def __init__(self, records: Iterable[tuple[BatchRun, Mapping[str, Record]]] = ()) -> None:
        self._found: list[tuple[PortablePaths, list[tuple[Key, str]]]] = []
        self.files: set[str] = set()
        self.folders: dict[str, set[str]] = {}
        self.patterns: set[str] = set()
        self.written: set[str] = set()
        for run, instances in records:
            passing = () if run.request.root.is_dir() else (str(run.request.root),)
            for name, record in instances.items():
                self._add(PortablePaths.of(run, name, installed()), record, passing)

    def _add(self, places: PortablePaths, record: Record, passing: tuple[str, ...]) -> None:
        """Take a record without what lies in the folder of a run that is gone."""
        found = []
        written = [places.path(key[1]) for key in record.found if key[0] == WRITTEN.name]
        self.written.update(path for path in written if not lies_in(path, *passing))
        for kind, key, which in placed(record.found):
            path = places.path(which[0])
            if lies_in(path, *passing):
                continue
            found.append((key, record.found[key]))
            if kind.is_folder:
                excluded = set(kind.excluded(which, places))
                self.folders.setdefault(path, excluded).intersection_update(excluded)
            elif kind is PATTERN:
                self.patterns.add(path)
            else:
                self.files.add(path)
        self._found.append((places, found))

    def outdated(self) -> set[str]:
        """What is not there any more as it was read."""
        memory: dict[Key, str] = {}
        outdated = set()
        for places, found in self._found:
            today = Today(places, {}, memory)
            outdated |= {places.path(key[1]) for key, digest in found if today.digest(key) != digest}
        return outdated
