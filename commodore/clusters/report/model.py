"""The report of a run over many clusters (docs/reference/fleet-report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from commodore.base.documents import document_text
from commodore.base.errors import ErrorRecord
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.selection import Shard
from commodore.clusters.waves import Wave
from commodore.core.review import FileGroup
from commodore.core.sources.git import Pin

REPORT = "fleet-report"
"""The name of the report's document."""
WaveState = Literal["failed", "refused", "interrupted", "not-begun", "compiled", "published"]


@dataclass(frozen=True, slots=True)
class WaveResult:
    """The outcome of a wave, with its limits.

    Attributes:
        gate: `manual` if it had to be approved.
        state: `compiled` (nothing was to be pushed), `published`, `failed`, `refused` (not approved, or not
            healthy after it was pushed), `interrupted`, or `not-begun`.
        reason: why it was not published.
        exit_code: of the wave itself, in addition to its clusters'.
    """

    name: str
    max_failures: str
    max_changed: int | None
    gate: Literal["manual", "automated"]
    soak: int
    state: WaveState
    reason: str = ""
    exit_code: int = field(default=0, metadata={"json": False})

    @classmethod
    def of(cls, wave: Wave, state: WaveState) -> WaveResult:
        gate: Literal["manual", "automated"] = "manual" if wave.manual else "automated"
        return cls(wave.name, str(wave.max_failures), wave.max_changed, gate, wave.soak, state)


@dataclass(frozen=True, slots=True)
class PinnedRef:
    """The commit of a branch or tag; the URL is without credentials."""

    url: str
    ref: str
    commit: str


@dataclass(frozen=True, slots=True)
class ErrorGroup(ErrorRecord):
    """An error shared by several clusters."""

    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FleetReport:
    """The report of a run over many clusters, for one shard or for all.

    Attributes:
        run: its name.
        started, finished: times in UTC (RFC 3339).
        commodore: the version that compiled.
        options_digest: `sha256:` and the digest of the options that affect catalogs; the same for all shards of
            one plan.
        planned: the number of planned clusters in all shards.
        push: whether catalogs were to be pushed.
        shard: None for all of the fleet.
        pins: the commits of all branches and tags, for `--pins`.
        groups: equal changes.
        totals: the number of clusters of the run by state; `clusters` may be a subset.
    """

    json_properties: ClassVar = ("errors",)

    run: str
    started: str
    finished: str
    commodore: str
    options_digest: str
    planned: int
    push: bool
    shard: Shard | None
    pins: tuple[PinnedRef, ...]
    waves: tuple[WaveResult, ...]
    clusters: tuple[ClusterOutcome, ...]
    groups: tuple[FileGroup, ...]
    folder: Path | None = field(default=None, metadata={"json": False})
    totals: Mapping[str, int] = field(default_factory=dict, metadata={"json": False})

    @property
    def exit_code(self) -> int:
        """The highest exit code of clusters and waves; 0 without errors."""
        return max(
            (*(cluster.exit_code for cluster in self.clusters), *(wave.exit_code for wave in self.waves)), default=0
        )

    @property
    def errors(self) -> tuple[ErrorGroup, ...]:
        """Equal errors with their clusters, most clusters first."""
        errors: dict[tuple[str, str], tuple[ErrorRecord, list[str]]] = {}
        for cluster in self.clusters:
            if cluster.error is not None:
                key = (cluster.error.code, cluster.error.message.replace(cluster.id, "${cluster.name}"))
                errors.setdefault(key, (cluster.error, []))[1].append(cluster.id)
        ordered = sorted(errors.values(), key=lambda pair: (-len(pair[1]), pair[1]))
        return tuple(
            ErrorGroup(error.code, error.family, error.message, error.hint, error.locations, tuple(sorted(ids)))
            for error, ids in ordered
        )


def report_bytes(report: FleetReport) -> bytes:
    """Serialise a report."""
    return document_text(REPORT, report).encode() + b"\n"


def pins_of(pins: Mapping[Pin, str]) -> tuple[PinnedRef, ...]:
    """Return pins in the form of reports."""
    return tuple(PinnedRef(url, ref, commit) for (url, ref), commit in sorted(pins.items()))


def as_pins(entries: Iterable[PinnedRef]) -> dict[Pin, str]:
    """Return the pins of a report in the form of the repository store."""
    return {(entry.url, entry.ref): entry.commit for entry in entries}
