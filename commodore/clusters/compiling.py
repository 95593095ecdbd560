"""Compilation of the clusters of waves by threads. Each outcome is written to the ledger before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace

from commodore.base.events import ClusterBegun, ClusterEnded, WaveBegun
from commodore.clusters.compiled import Compiled
from commodore.clusters.opening import Run
from commodore.clusters.outcome import ClusterOutcome

Begun = Mapping[str, Future[Compiled | None]]
"""Clusters that threads work on, by id; the result is the part that this process can publish, if any."""


def begin(run: Run, pool: ThreadPoolExecutor, ids: Iterable[str], begun: Begun) -> Begun:
    """Compile the clusters that are neither compiled nor begun, starting with the slowest of the previous run.

    Returns:
        the clusters of `ids` that are being compiled.
    """
    left = [item for item in run.ledger.state.of(ids) if item.id in begun or item.state in ("not-begun", "cancelled")]
    left.sort(key=lambda item: (-run.durations.get(item.id, 0.0), item.id))
    return {item.id: begun.get(item.id) or pool.submit(_compile, run, item) for item in left}


def finish(run: Run, wave: str, begun: Begun) -> dict[str, Compiled]:
    """Wait until the clusters of a wave are compiled, and return the ones that this process can publish."""
    run.context.announce(WaveBegun(wave, len(begun), _expected(run, begun)))
    for future in as_completed(begun.values()):
        future.result()
    return {name: done for name, future in begun.items() if (done := future.result()) is not None}


def _expected(run: Run, begun: Begun) -> float:
    """Estimate the seconds for the remaining clusters from their durations in the previous run."""
    left = [item.id for item in run.ledger.state.of(begun) if item.state in ("not-begun", "cancelled")]
    known = [run.durations[name] for name in left if name in run.durations]
    return sum(known) / run.work.threads if len(known) == len(left) else 0.0


def _compile(run: Run, outcome: ClusterOutcome) -> Compiled | None:
    if run.stopped.is_set() or run.is_exhausted:
        return None
    run.context.announce(ClusterBegun(outcome.id, outcome.wave))
    done = run.work.compile(outcome, run.context)
    assert run.shared.answers is not None
    run.ledger.compiled(done, run.shared.answers.pins)
    announce_outcome(run, done.outcome)
    if done.staged is None or not run.plan.request.request.push:
        return None
    return replace(done, hunks=())  # a fleet's would be many


def announce_outcome(run: Run, outcome: ClusterOutcome) -> None:
    """Announce the end of the work on a cluster."""
    changes = ", ".join(f"{count} {what}" for what, count in outcome.summary.items())
    detail, code = (outcome.error.message, outcome.error.code) if outcome.error is not None else (changes, "")
    run.context.announce(ClusterEnded(outcome.id, outcome.wave, outcome.state, outcome.seconds, detail, code))
