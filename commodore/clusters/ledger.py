"""The state of a run: the sum of its journal. A step writes an entry, and the state after it is the next step's."""

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
        outcomes: the outcome so far of each cluster.
        commits: the commits that may have been pushed, by cluster.
        judged: the waves that may be published.
        soaking: seconds since 1970 until which a wave soaks.
        soaked: the waves after which the next one may begin.
        pins: the commits of branches and tags.
        exhausted: how many clusters have failed in a row because this machine lacks something.
    """

    outcomes: Mapping[str, ClusterOutcome]
    commits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged: frozenset[str] = frozenset()
    soaking: Mapping[str, float] = field(default_factory=dict)
    soaked: frozenset[str] = frozenset()
    pins: Mapping[Pin, str] = field(default_factory=dict)
    exhausted: int = 0

    def of(self, ids: Iterable[str]) -> list[ClusterOutcome]:
        """The outcomes of some clusters."""
        return [self.outcomes[name] for name in ids]

    def after(self, entry: Mapping[str, Any]) -> State:
        """The state after one more entry."""
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
        """The state after a cluster was compiled. Its wave is judged anew, also if an earlier process has judged it."""
        lacks = outcome.error is not None and is_exhaustion(outcome.error.code)
        exhausted = self.exhausted + 1 if lacks else 0
        outcomes, judged = {**self.outcomes, outcome.id: outcome}, self.judged - {outcome.wave}
        return replace(self, outcomes=outcomes, judged=judged, exhausted=exhausted)

    def without(self, failed: Sequence[ClusterOutcome]) -> State:
        """The state in which these clusters of one wave are to be compiled and judged again."""
        again = {item.id: ClusterOutcome(item.id, item.display_name, item.tenant, item.wave) for item in failed}
        waves = {item.wave for item in failed}
        return replace(self, outcomes={**self.outcomes, **again}, judged=self.judged - waves, exhausted=0)


def may_be_repaired(outcome: ClusterOutcome) -> bool:
    """True for a failed cluster that may be compiled again, as the cause may be removed. What was refused for safety
    needs a run that compares anew.
    """
    return outcome.has_failed and outcome.exit_code != PolicyError.exit_code


class Ledger:
    """The journal of a run with its sum: the state, and the groups of equal changes. May be used from several threads.

    Args:
        run: the folder of the run; entries of an earlier process are read first.
        outcomes: each cluster before anything was done.

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
        """Let clusters of one wave be compiled again."""
        with self._lock:
            for item in failed:
                self._groups.remove(item.id, item.groups)
            self.state = self.state.without(failed)

    def write(self, event: str, **content: Any) -> None:
        """Add an entry; it is on the disk when this returns.

        Raises:
            EnvironmentFault: the disk refuses.
        """
        with self._lock:
            self._write(event, **content)

    def compiled(self, done: Compiled, pins: Mapping[Pin, str]) -> None:
        """Write down a cluster that was compiled, after the commits that it was made of. A cancelled one is compiled
        again by the process that goes on.
        """
        item = done.outcome
        with self._lock:
            self._pin(pins)
            if item.state == "cancelled":
                self.state = self.state.compiled(item)
            else:
                self._compiled(item, done.hunks)

    def take_over(self, judged: FleetReport) -> None:
        """Go on where the run of a report has ended, as if it was this one."""
        hunks = {group.id: group for group in judged.groups}
        with self._lock:
            self._pin(as_pins(judged.pins))
            for cluster in judged.clusters:
                if self.state.outcomes[cluster.id].state == "not-begun":
                    self._compiled(cluster, [hunks[name] for name in cluster.groups])
            self.state = replace(self.state, exhausted=0)  # what failed there says nothing of this machine

    def groups(self) -> tuple[FileGroup, ...]:
        """The groups of equal changes so far."""
        with self._lock:
            return tuple(self._groups)

    def end(self) -> None:
        """Write down that the run has nothing more to do."""
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
