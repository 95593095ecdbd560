"""The state of a run, computed from its journal. A step writes an entry, and the next step uses the state after it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.base.document_reading import read_record
from commodore.base.documents import plain
from commodore.base.errors import PolicyError
from commodore.base.exhaustion import is_exhaustion
from commodore.clusters.compiled import Compiled
from commodore.clusters.journal import Journal, RunFolder
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.report.model import FleetReport, as_pins
from commodore.core.review import FileGroup, FileGroups, Hunk
from commodore.core.sources.git import Pin


@dataclass(frozen=True, slots=True)
class State:
    """The state of a run after some entries of its journal.

    Attributes:
        outcomes: the current outcome of each cluster.
        commits: the commits that may have been pushed, by cluster.
        judged: the waves that may be published.
        soaking: seconds since 1970 until which a wave soaks.
        soaked: the waves after which the next one may begin.
        pins: the commits of branches and tags.
        exhausted: the number of consecutive failures because a resource of this machine is exhausted.
    """

    outcomes: Mapping[str, ClusterOutcome]
    commits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged: frozenset[str] = frozenset()
    soaking: Mapping[str, float] = field(default_factory=dict)
    soaked: frozenset[str] = frozenset()
    pins: Mapping[Pin, str] = field(default_factory=dict)
    exhausted: int = 0

    def of(self, ids: Iterable[str]) -> list[ClusterOutcome]:
        """Return the outcomes of some clusters."""
        return [self.outcomes[name] for name in ids]

    def after(self, entry: Mapping[str, Any]) -> State:
        """Return the state after another entry."""
        match entry["event"]:
            case "compiled":
                return self.compiled(read_record(ClusterOutcome, entry["cluster"]))
            case "published":
                record = read_record(ClusterOutcome, entry["cluster"])
                return replace(self, outcomes={**self.outcomes, record.id: record})
            case "pushing":
                pushed = (*self.commits.get(entry["cluster"], ()), entry["commit"])
                return replace(self, commits={**self.commits, entry["cluster"]: pushed})
            case "judged":
                return replace(self, judged=self.judged | {entry["wave"]})
            case "soaking":
                return replace(self, soaking={**self.soaking, entry["wave"]: entry["until"]})
            case "soaked":
                return replace(self, soaked=self.soaked | {entry["wave"]})
            case "pin":
                return replace(self, pins={**self.pins, (entry["url"], entry["ref"]): entry["commit"]})
        return self

    def compiled(self, outcome: ClusterOutcome) -> State:
        """Return the state after a cluster was compiled. Its wave must be judged again."""
        lacks = outcome.error is not None and is_exhaustion(outcome.error.code)
        exhausted = self.exhausted + 1 if lacks else 0
        outcomes, judged = {**self.outcomes, outcome.id: outcome}, self.judged - {outcome.wave}
        return replace(self, outcomes=outcomes, judged=judged, exhausted=exhausted)

    def without(self, failed: Sequence[ClusterOutcome]) -> State:
        """Return the state in which these clusters of one wave must be compiled and judged again."""
        again = {item.id: ClusterOutcome(item.id, item.display_name, item.tenant, item.wave) for item in failed}
        waves = {item.wave for item in failed}
        return replace(self, outcomes={**self.outcomes, **again}, judged=self.judged - waves, exhausted=0)


def may_be_repaired(outcome: ClusterOutcome) -> bool:
    """Return True for a failed cluster that may be compiled again, as the cause may be removed. Refusals for safety
    need a new run.
    """
    return outcome.has_failed and outcome.exit_code != PolicyError.exit_code


class Ledger:
    """The journal of a run, its state, and the groups of equal changes. Thread-safe.

    Args:
        run: the folder of the run; existing entries are read first.
        outcomes: the initial outcomes of all clusters.

    Raises:
        InputError: CMD-FLT-115, the journal is damaged.
    """

    def __init__(self, run: RunFolder, outcomes: Iterable[ClusterOutcome]) -> None:
        self._lock = threading.Lock()
        self._groups = FileGroups()
        self.state = State({outcome.id: outcome for outcome in outcomes})
        try:
            for entry in run.entries():
                self._replay(entry)
        except (ValueError, TypeError, LookupError):
            raise run.damaged(run.journal) from None
        self.state = replace(self.state, exhausted=0)
        self._journal = Journal(run)

    def _replay(self, entry: Mapping[str, Any]) -> None:
        if entry["event"] == "compiled":
            name = entry["cluster"]["id"]
            self._groups.remove(name, self.state.outcomes[name].groups)  # it may have failed before
            self._groups.add(name, [read_record(Hunk, hunk) for hunk in entry["hunks"]])
        self.state = self.state.after(entry)

    def forget(self, failed: Sequence[ClusterOutcome]) -> None:
        """Record that clusters of one wave are compiled again."""
        with self._lock:
            for item in failed:
                self._groups.remove(item.id, item.groups)
            self.state = self.state.without(failed)

    def write(self, event: str, **content: Any) -> None:
        """Append an entry, and sync it to disk.

        Raises:
            EnvironmentFault: writing failed.
        """
        with self._lock:
            self._write(event, **content)

    def compiled(self, done: Compiled, pins: Mapping[Pin, str]) -> None:
        """Record a compiled cluster after its pinned commits. A cancelled cluster is not recorded, so that a resumed
        run compiles it again.
        """
        item = done.outcome
        with self._lock:
            self._pin(pins)
            if item.state == "cancelled":
                self.state = self.state.compiled(item)
            else:
                self._compiled(item, done.hunks)

    def take_over(self, judged: FleetReport) -> None:
        """Continue from the end of a report's run."""
        hunks = {group.id: group for group in judged.groups}
        with self._lock:
            self._pin(as_pins(judged.pins))
            for cluster in judged.clusters:
                if self.state.outcomes[cluster.id].state == "not-begun":
                    self._compiled(cluster, [hunks[name] for name in cluster.groups])
            self.state = replace(self.state, exhausted=0)  # failures of that run do not count for this machine

    def groups(self) -> tuple[FileGroup, ...]:
        """Return the groups of equal changes so far."""
        with self._lock:
            return tuple(self._groups)

    def end(self) -> None:
        """Record that the run is finished."""
        self._journal.end()

    def close(self) -> None:
        self._journal.close()

    def _write(self, event: str, **content: Any) -> None:
        content = plain(content)
        self._journal.write(event, **content)
        self.state = self.state.after({"event": event, **content})

    def _compiled(self, outcome: ClusterOutcome, hunks: Sequence[Hunk]) -> None:
        first = {hunk.id for hunk in self._groups.add(outcome.id, hunks)}
        known = [hunk if hunk.id in first else {"id": hunk.id, "values": hunk.values} for hunk in hunks]
        self._write("compiled", cluster=outcome, hunks=known)

    def _pin(self, pins: Mapping[Pin, str]) -> None:
        for (url, ref), commit in pins.items():
            if (url, ref) not in self.state.pins:
                self._write("pin", url=url, ref=ref, commit=commit)
