"""The report of a run over many clusters (docs/reference/fleet-report.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.clusters.outcome import ClusterOutcome
from commodore.core.review import FileGroup

VERSION = 1


@dataclass(frozen=True, slots=True)
class WaveResult:
    """The outcome of a wave.

    Attributes:
        state: `compiled` (nothing was to be pushed), `published`, `failed`, `refused` (not approved, or not
            healthy after it was pushed), `interrupted`, or `not-begun`.
        reason: why it was not published.
        wave: what decided about it, as JSON-ready data.
        exit_code: what the wave itself adds to those of its clusters.
    """

    name: str
    state: str
    reason: str = ""
    wave: Mapping[str, Any] = field(default_factory=dict)
    exit_code: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {**self.wave, "name": self.name, "state": self.state, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class FleetReport:
    """The report of a run, for one shard or for all of the fleet.

    Attributes:
        run: its name.
        started, finished: times in UTC (RFC 3339).
        digest: what the run was to do; the same for all shards of one plan.
        planned: how many clusters were to be compiled in all shards.
        shard: which part of how many, or None.
        pins: the commits of all branches and tags: `url`, `ref`, `commit`.
        totals: how many clusters of the run have each state; `clusters` may be some of them only.
    """

    run: str
    started: str
    finished: str
    commodore: str
    digest: str
    planned: int
    push: bool
    shard: tuple[int, int] | None
    pins: tuple[Mapping[str, str], ...]
    waves: tuple[WaveResult, ...]
    clusters: tuple[ClusterOutcome, ...]
    groups: tuple[FileGroup, ...]
    folder: Path | None = None
    totals: Mapping[str, int] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 if all is well, else the highest of the clusters' codes, and of the waves' own."""
        return max((*(one.exit_code for one in self.clusters), *(wave.exit_code for wave in self.waves)), default=0)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "version": VERSION,
            "run": self.run,
            "started": self.started,
            "finished": self.finished,
            "commodore": self.commodore,
            "options_digest": self.digest,
            "planned": self.planned,
            "push": self.push,
            "shard": None if self.shard is None else {"index": self.shard[0], "of": self.shard[1]},
            "pins": [dict(pin) for pin in self.pins],
            "waves": [wave.as_dict() for wave in self.waves],
            "clusters": [self._cluster(one) for one in self.clusters],
            "groups": [group.as_dict() for group in self.groups],
            "errors": error_groups(self.clusters),
        }

    def _cluster(self, one: ClusterOutcome) -> dict[str, Any]:
        return {
            "id": one.id,
            "display_name": one.display_name,
            "tenant": one.tenant,
            "wave": one.wave,
            "state": one.state,
            "attempts": one.attempts,
            "seconds": one.seconds,
            "instances": {
                "total": one.rendered + one.reused,
                "rendered": one.rendered,
                "reused": one.reused,
                "remote": one.brought,
            },
            "tree": one.tree,
            "base_commit": one.base_commit,
            "commit": one.commit,
            "summary": dict(one.summary),
            "groups": list(one.groups),
            "error": None if one.failure is None else {**one.failure.error, "exit_code": one.failure.exit_code},
            "notices": list(one.notices),
            "log": f"logs/{one.id}.jsonl",
        }


def error_groups(clusters: Iterable[ClusterOutcome]) -> list[dict[str, Any]]:
    """Equal errors, each once with its clusters; those of most clusters first."""
    found: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for one in clusters:
        if one.failure is not None:
            error = one.failure.error
            message = str(error["message"]).replace(one.id, "${cluster.name}")
            key = json.dumps([error["code"], message])
            found.setdefault(key, (error, []))[1].append(one.id)
    ordered = sorted(found.values(), key=lambda pair: (-len(pair[1]), pair[1]))
    return [{**error, "clusters": sorted(ids)} for error, ids in ordered]


def pins_of(pins: Mapping[tuple[str, str], str]) -> tuple[Mapping[str, str], ...]:
    """Pins as they stand in reports."""
    return tuple({"url": url, "ref": ref, "commit": commit} for (url, ref), commit in sorted(pins.items()))


def as_pins(entries: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], str]:
    """Pins of a report as the store of repositories takes them."""
    return {(entry["url"], entry["ref"]): entry["commit"] for entry in entries}
