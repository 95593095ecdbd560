"""What the instances of a working directory have read, for those who ask later why a manifest is as it is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from commodore.engine._tasks import Record
from commodore.errors import EnvironmentFault
from commodore.workspace import Workspace, write_atomically


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    """What one instance has read when it was last rendered.

    Args:
        reads: each thing that was read: its kind and its name. See `commodore.engine.reuse.reads`.
        reused: whether the last run has taken the result of an earlier one.
        refusal: why its result cannot be kept for other runs; empty if it can.
    """

    instance: str
    component: str
    reads: tuple[tuple[str, ...], ...]
    reused: bool
    refusal: str


def write_record(root: Path, instance: str, component: str, record: Record, *, reused: bool) -> None:
    """Keep an instance's record in the working directory. A disk that refuses costs an explanation and nothing else."""
    content = {
        "component": component,
        "reads": sorted(record.found),
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
        return InstanceRecord(
            instance, str(content["component"]), reads, bool(content["reused"]), str(content["refusal"])
        )
    return None


def _file(root: Path, instance: str) -> Path:
    return Workspace(root).state / "records" / f"{instance}.json"
