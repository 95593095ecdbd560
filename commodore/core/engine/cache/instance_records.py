"""Records of the inputs of a working directory's instances, to explain manifests later."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.files.sealed import read_note, write_note
from commodore.base.files.tree import lies_in
from commodore.base.files.workspace import Workspace
from commodore.core.engine.cache.keys import FILE, KINDS, PATTERN, TARGETS, WRITTEN, CurrentState, Key, Topic, path_keys
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.static_key import installed
from commodore.core.engine.tasks import BatchRun, Record


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    """The inputs that an instance read when it was last rendered.

    Args:
        reads: the key of each input: its kind and its name. See `commodore.core.engine.cache.keys`.
        digests: the digest of each input.
        reused: whether the last run has reused the result of an earlier one.
        refusal: the reason why its result cannot be stored for other runs; empty if it can.
        unseen: whether it may have read files that are not among these inputs.
    """

    instance: str
    component: str
    reads: tuple[tuple[str, ...], ...]
    reused: bool
    refusal: str
    digests: tuple[str, ...] = ()
    unseen: bool = False

    def about(self, *topics: Topic) -> Iterator[tuple[Topic, Key]]:
        """Yield the inputs of these topics, with their topic."""
        for key in self.reads:
            kind = KINDS.get(key[0])
            if kind is not None and kind.topic in topics:
                yield kind.topic, key

    def words(self, topic: Topic) -> tuple[str, ...]:
        """Return descriptions of the inputs of a topic, each once, sorted."""
        return tuple(sorted({KINDS[key[0]].describe(key[1:]) for _, key in self.about(topic)}))


def write_record(run: BatchRun, instance: str, record: Record, *, reused: bool) -> None:
    """Save an instance's record in the working directory. Errors of the disk are ignored: only explanations need it."""
    root = run.resolved(run.request.root)
    places = PortablePaths.of(run, instance, installed())
    digests = {
        FILE.key(places.of_this_cluster(key[1])) if key[0] == FILE.name else key: digest
        for key, digest in record.digests.items()
    }
    keys = sorted(digests)
    content = {
        "component": run.jobs[instance].component,
        "reads": keys,
        "digests": [digests[key] for key in keys],
        "reused": reused,
        "refusal": record.refusal,
        "unseen": record.unseen,
    }
    write_note(_file(root, instance), content, "record", root=root)


def read_record(root: Path, instance: str) -> InstanceRecord | None:
    """Read the record of an instance; None without a valid one."""
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
    """Return the path of a file or folder of a record.

    Args:
        root: the working directory.
        directory: the instance's component directory.
        name: its name in the record.
    """
    return Path(_places(root, directory).path(name))


def changed_reads(
    record: InstanceRecord, root: Path, directory: Path, nodes: Mapping[str, Mapping[str, Any]]
) -> frozenset[Key]:
    """Return the changed inputs. Only parameters and files are compared: no network access, no program is run.

    Args:
        nodes: the current rendered targets, at least the ones in the record.
    """
    current = CurrentState(_places(root, directory), nodes)
    pairs = zip(record.reads, record.digests, strict=True)
    return frozenset(key for key, digest in pairs if current.digest(key) not in (None, digest) and key != TARGETS.key())


def _places(root: Path, directory: Path) -> PortablePaths:
    places = {"component": directory, "refs": Workspace(root).refs, "output": root, "root": root, "directory": root}
    return PortablePaths(places, ())


def _file(root: Path, instance: str) -> Path:
    return Workspace(root).state / "records" / f"{instance}.json"


class FilesRead:
    """The files read by the instances of one compile, including failed ones.

    Args:
        records: the runs of the compile, each with the records of its instances.
    """

    def __init__(self, records: Iterable[tuple[BatchRun, Mapping[str, Record]]] = ()) -> None:
        self._inputs: list[tuple[PortablePaths, list[tuple[Key, str]]]] = []
        self.files: set[str] = set()
        self.folders: dict[str, set[str]] = {}
        self.patterns: set[str] = set()
        self.written: set[str] = set()
        for run, instances in records:
            temporary = () if run.request.root.is_dir() else (str(run.request.root),)
            for name, record in instances.items():
                self._add(PortablePaths.of(run, name, installed()), record, temporary)

    def _add(self, places: PortablePaths, record: Record, temporary: tuple[str, ...]) -> None:
        """Add a record, without files in the `temporary` folder of a run, which is removed already."""
        inputs = []
        written = [places.path(key[1]) for key in record.digests if key[0] == WRITTEN.name]
        self.written.update(path for path in written if not lies_in(path, *temporary))
        for kind, key, which in path_keys(record.digests):
            path = places.path(which[0])
            if lies_in(path, *temporary):
                continue
            inputs.append((key, record.digests[key]))
            if kind.is_folder:
                excluded = set(kind.excluded(which, places))
                self.folders.setdefault(path, excluded).intersection_update(excluded)
            elif kind is PATTERN:
                self.patterns.add(path)
            else:
                self.files.add(path)
        self._inputs.append((places, inputs))

    def outdated(self) -> set[str]:
        """Return the paths of inputs that have changed."""
        memory: dict[Key, str] = {}
        outdated = set()
        for places, inputs in self._inputs:
            current = CurrentState(places, {}, memory)
            outdated |= {places.path(key[1]) for key, digest in inputs if current.digest(key) != digest}
        return outdated
