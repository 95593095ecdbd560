"""The plan and the journal of a run on disk, so that another process can resume it.

Below `fleet/runs/<run>/` lie `plan.json`, written before the first cluster is begun, and `journal.jsonl`, one object a
line, each synced to disk before the run continues.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commodore.base.document_reading import read_document
from commodore.base.documents import document_text
from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.base.printable import some_of
from commodore.clusters.selection import Shard

_PLAN, _JOURNAL = "plan.json", "journal.jsonl"
_ENDED, _RUN = "ended", "fleet-run"
_RUNS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The plan of a run as stored on disk.

    Attributes:
        started: the time in UTC (RFC 3339).
        digest: of all options that affect catalogs; `options` has a digest for each option that is set.
        clusters: the wave of each cluster in all shards.
    """

    commodore: str
    started: str
    digest: str
    options: Mapping[str, str]
    push: bool
    shard: Shard | None
    clusters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def name(self) -> str:
        """The run's name: its start time, and four digits."""
        return self.path.name

    @property
    def plan(self) -> Path:
        return self.path / _PLAN

    @property
    def journal(self) -> Path:
        return self.path / _JOURNAL

    @property
    def report(self) -> Path:
        return self.path / "report.json"

    def log(self, cluster: str) -> Path:
        """Return the file with the events of a cluster, one JSON object per line."""
        return self.path / "logs" / f"{cluster}.jsonl"

    def read_plan(self) -> PlannedRun:
        """Read the plan of the run.

        Raises:
            InputError: CMD-FLT-115, it is damaged, or of another version.
        """
        with guard_disk(self.plan):
            text = self.plan.read_bytes()
        try:
            return read_document(_RUN, PlannedRun, text)
        except (ValueError, TypeError, RecursionError):
            raise self.damaged(self.plan) from None

    @staticmethod
    def damaged(path: Path) -> InputError:
        """Return the error for an unreadable file."""
        message = f"{path} is damaged, or of another version of commodore"
        return InputError("CMD-FLT-115", message, hint="begin a new run", locations=[str(path)])

    def entries(self) -> Iterator[dict[str, Any]]:
        """Return the entries of the journal. A truncated last line of a killed run is ignored."""
        with guard_disk(self.journal):
            text = self.journal.read_bytes() if self.journal.is_file() else b""
        *lines, _ = text.split(b"\n")
        for line in lines:
            try:
                yield dict(json.loads(line))
            except (ValueError, TypeError):
                raise self.damaged(self.journal) from None

    @property
    def is_unfinished(self) -> bool:
        """True if the run can be resumed."""
        return self.plan.is_file() and not any(entry.get("event") == _ENDED for entry in self.entries())

    @property
    def state(self) -> str:
        """`finished`, `unfinished` or `damaged`."""
        try:
            return "unfinished" if self.is_unfinished else "finished" if self.plan.is_file() else "damaged"
        except CommodoreError:
            return "damaged"


def runs(folder: Path) -> list[RunFolder]:
    """Return all runs below `fleet/`, newest first."""
    with guard_disk(folder):
        result = [path for path in (folder / "runs").iterdir() if path.is_dir()] if (folder / "runs").is_dir() else []
    return [RunFolder(path) for path in sorted(result, key=lambda path: path.name, reverse=True)]


def new_run(folder: Path, plan: PlannedRun) -> RunFolder:
    """Create the folder of a new run, and write its plan."""
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    made = RunFolder(folder / "runs" / f"{started}-{secrets.token_hex(2)}")
    with guard_disk(made.path):
        (made.path / "logs").mkdir(mode=0o700, parents=True)
    write_atomically(made.plan, document_text(_RUN, plan).encode() + b"\n", durable=True)
    return made


def find_run(folder: Path, name: str) -> RunFolder:
    """Return a run by name; without a name, the newest unfinished run.

    An unfinished run is not chosen without its name if a newer run has finished pushing, as resuming it would revert
    catalogs to older commits.

    Raises:
        InputError: CMD-FLT-115, no such run.
    """
    known = runs(folder)
    for run in known:
        if run.name == name if name else run.is_unfinished:
            return run
        if not name and run.plan.is_file() and run.read_plan().push:
            break
    what = f"there is no run {name!r}" if name else "there is no unfinished run"
    raise InputError("CMD-FLT-115", f"{what} below {folder}", hint=list_runs(known))


def list_runs(known: Sequence[RunFolder]) -> str:
    """Format the newest runs with their states for a hint."""
    shown = ", ".join(f"{run.name} ({run.state})" for run in known[:_RUNS_SHOWN])
    older = f" and {len(known) - _RUNS_SHOWN} older" if len(known) > _RUNS_SHOWN else ""
    return f"the newest runs are {shown}{older}" if known else "there are no runs in this folder"


def check_same(run: RunFolder, plan: PlannedRun) -> None:
    """Refuse to resume a run with a different plan.

    Raises:
        PolicyError: CMD-FLT-111, with the difference.
    """
    difference = _difference(run.read_plan(), plan)
    if difference:
        raise PolicyError(
            "CMD-FLT-111",
            f"the run {run.name} cannot be resumed: it was started with {difference}",
            hint="use its options and clusters, or start a new run without --resume",
            locations=[str(run.plan)],
        )


def _difference(before: PlannedRun, plan: PlannedRun) -> str:
    """Describe the difference of an earlier plan; empty if they are equal."""
    if before.commodore != plan.commodore:
        return f"version {before.commodore} of commodore"
    if before.push != plan.push or before.shard != plan.shard:
        return f"other values of --{'shard' if before.push == plan.push else 'push'}"
    gone, new = sorted(before.clusters.keys() - plan.clusters), sorted(plan.clusters.keys() - before.clusters)
    if gone or new:
        more = [f"with {some_of(gone)}"] if gone else []
        return f"other clusters: {' and '.join([*more, *([f'without {some_of(new)}'] if new else [])])}"
    if before.digest != plan.digest:
        different = sorted({name for name, _ in before.options.items() ^ plan.options.items()})
        return f"other options: {', '.join(different)}"
    moved = [name for name, wave in plan.clusters.items() if before.clusters[name] != wave]
    return f"other waves for {some_of(moved)}" if moved else ""


class Journal:
    """The journal of this process's run. Thread-safe."""

    def __init__(self, run: RunFolder) -> None:
        self._lock = threading.Lock()
        with guard_disk(run.journal):
            self._handle = os.open(run.journal, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            content = os.pread(self._handle, os.fstat(self._handle).st_size, 0)
            os.ftruncate(self._handle, content.rfind(b"\n") + 1)
            os.lseek(self._handle, 0, os.SEEK_END)
        self._path = run.journal

    def write(self, event: str, **content: Any) -> None:
        """Append a line, and sync it to disk.

        Raises:
            EnvironmentFault: writing failed.
        """
        line = json.dumps({"event": event, **content}).encode() + b"\n"
        with self._lock, guard_disk(self._path):
            place = os.lseek(self._handle, 0, os.SEEK_CUR)
            try:
                view = memoryview(line)
                while view:
                    view = view[os.write(self._handle, view) :]
                os.fsync(self._handle)
            except OSError:  # no line may follow a partially written one
                os.ftruncate(self._handle, place)
                os.lseek(self._handle, place, os.SEEK_SET)
                raise

    def end(self) -> None:
        """Record that the run is finished."""
        self.write(_ENDED)

    def close(self) -> None:
        os.close(self._handle)
