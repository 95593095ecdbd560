"""What the instances of a working directory have read, for those who ask later why a manifest is as it is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.engine._tasks import Record
from commodore.engine.reuse.places import Places
from commodore.engine.reuse.reads import Key, Observer
from commodore.errors import EnvironmentFault
from commodore.workspace import Workspace, write_atomically


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    """What one instance has read when it was last rendered.

    Args:
        reads: each thing that was read: its kind and its name. See `commodore.engine.reuse.reads`.
        digests: what was found there, one for each.
        reused: whether the last run has taken the result of an earlier one.
        refusal: why its result cannot be kept for other runs; empty if it can.
    """

    instance: str
    component: str
    reads: tuple[tuple[str, ...], ...]
    reused: bool
    refusal: str
    digests: tuple[str, ...] = ()


def write_record(root: Path, instance: str, component: str, record: Record, *, reused: bool) -> None:
    """Keep an instance's record in the working directory. A disk that refuses costs an explanation and nothing else."""
    keys = sorted(record.found)
    content = {
        "component": component,
        "reads": keys,
        "digests": [record.found[key] for key in keys],
        "reused": reused,
        "refusal": record.refusal,
    }
    with contextlib.suppress(OSError, EnvironmentFault):
        write_atomically(_file(root, instance), json.dumps(content).encode())


def read_record(root: Path, instance: str) -> InstanceRecord | None:
    """The record of an instance; None if there is none."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        content: Mapping[str, object] = json.loads(_file(root, instance).read_bytes())
        reads = tuple(tuple(map(str, key)) for key in content["reads"])  # type: ignore[attr-defined]
        digests = tuple(map(str, content["digests"]))  # type: ignore[call-overload]
        if len(digests) == len(reads):
            component, refusal = str(content["component"]), str(content["refusal"])
            return InstanceRecord(instance, component, reads, bool(content["reused"]), refusal, digests)
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
    """What is different today. Only parameters and files are looked at; nobody is asked, no program is run.

    Args:
        nodes: the rendered targets of today, at least those that the record names.
    """
    observer = Observer(_places(root, directory), nodes, {})
    pairs = zip(record.reads, record.digests, strict=True)
    return frozenset(key for key, digest in pairs if observer.digest(key) not in (None, digest) and key != _TARGETS)


_TARGETS = ("targets",)


def _places(root: Path, directory: Path) -> Places:
    places = {"component": directory, "refs": Workspace(root).refs, "output": root, "root": root, "directory": root}
    return Places(places, ())


def _file(root: Path, instance: str) -> Path:
    return Workspace(root).state / "records" / f"{instance}.json"
