"""An open run: its folder, its ledger, and its workers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.base.programs.workers import usable_cpus
from commodore.catalog import Shared, open_engine
from commodore.clusters.journal import PlannedRun, RunFolder, check_same, find_run, new_run, runs
from commodore.clusters.judging import refusal
from commodore.clusters.ledger import Ledger, may_be_repaired
from commodore.clusters.outcome import FAILURES_IN_A_ROW, ClusterOutcome
from commodore.clusters.planning import Plan
from commodore.clusters.report.model import FleetReport
from commodore.clusters.sources import FleetSource
from commodore.clusters.task import ClusterWork, ThreadEvents, Work
from commodore.core.sources.git import RemoteAnswers


@dataclass(frozen=True, slots=True)
class Run:
    """One run in one process.

    Attributes:
        folder: the plan, journal, logs and report on the disk.
        ledger: the state so far.
        shared: the resources that clusters share.
        work: compiles and publishes a cluster.
        durations: the seconds of each cluster in the previous run.
        stopped: set to begin no more work.
    """

    plan: Plan
    folder: RunFolder
    context: Context
    ledger: Ledger
    shared: Shared
    work: Work
    durations: Mapping[str, float]
    stopped: threading.Event

    @property
    def is_exhausted(self) -> bool:
        """True if all other clusters would fail, too. Remote workers are excluded one by one (`DaskWork`)."""
        return self.plan.request.dask is None and self.ledger.state.exhausted >= FAILURES_IN_A_ROW

    def stop(self) -> None:
        """Begin no more work, and stop running work."""
        self.stopped.set()
        self.context.cancellation.cancel()
        self.shared.engine.close()


@contextlib.contextmanager
def open_run(plan: Plan, source: FleetSource, folder: Path, context: Context) -> Iterator[Run]:
    """Open a new run, or a run to resume, below `fleet/`. Clusters are compiled in threads of this process.

    Raises:
        InputError: no run to resume.
        PolicyError: CMD-FLT-111, the run or the report to publish has other options or clusters.
    """
    request = plan.request
    run = _folder(plan, folder)
    limits = replace(context.limits, lock_wait=context.limits.fleet_lock_wait)
    context = replace(context, limits=limits).nested()
    stopped, events = threading.Event(), ThreadEvents(context.announce)
    with contextlib.ExitStack() as stack:
        ledger = _ledger(plan, run)
        stack.callback(ledger.close)
        engine = open_engine(request.request.options, context.with_announce(events.announce))
        stack.callback(engine.close)
        answers = RemoteAnswers(context, {**request.pins, **ledger.state.pins})
        stack.callback(answers.end)
        shared = Shared(engine, answers)
        work = ClusterWork(
            request=request.request,
            clusters=request.request.workspace.root / "clusters",
            source=source,
            shared=shared,
            events=events,
            log=run.log,
            retries=request.retries,
            timeout=request.timeout,
            stopped=stopped,
            threads=request.workers or usable_cpus(),
            keep=request.keep,
        )
        yield Run(plan, run, context, ledger, shared, work, _durations(run), stopped)


@contextlib.contextmanager
def with_workers(run: Run) -> Iterator[Run]:
    """Yield the run with the workers of a Dask cluster, if its options request one.

    Raises:
        EnvironmentFault: CMD-FLT-104, Dask is not installed; CMD-FLT-106, the scheduler is not usable.
    """
    options = run.plan.request.dask
    if options is None:
        yield run
        return
    try:
        from commodore.clusters.on_dask import DaskWork
    except ImportError as error:
        raise EnvironmentFault(
            "CMD-FLT-104", "Dask is not installed", hint="pip install 'commodore-catalog[dask]'"
        ) from error
    assert isinstance(run.work, ClusterWork)
    with contextlib.closing(DaskWork(options, run.work, run.context)) as work:
        yield replace(run, work=work)


def _folder(plan: Plan, folder: Path) -> RunFolder:
    written = plan.record(datetime.now(UTC).isoformat(timespec="seconds"))
    if plan.request.judged is not None:
        _check_judged(plan.request.judged, written)
    if plan.request.resume is None:
        return new_run(folder, written)
    run = find_run(folder, plan.request.resume)
    check_same(run, written)
    return run


def _check_judged(judged: FleetReport, plan: PlannedRun) -> None:
    """Refuse to publish a report of a different plan.

    Raises:
        PolicyError: CMD-FLT-111, it is of other clusters, options or another version.
    """
    same = (judged.options_digest, judged.commodore, {cluster.id: cluster.wave for cluster in judged.clusters})
    if same != (plan.digest, plan.commodore, plan.clusters):
        raise PolicyError(
            "CMD-FLT-111",
            f"the report of {judged.run} cannot be published: clusters, options or the version of commodore differ",
            hint="use its options and clusters; for shards, use the merged report",
        )


def _ledger(plan: Plan, run: RunFolder) -> Ledger:
    """Return the ledger of a run. Failed clusters of its last wave are compiled again; a report is adopted."""
    ledger = Ledger(
        run,
        (
            ClusterOutcome(item.id, item.display_name, item.tenant, wave.name)
            for wave, ones in plan.own
            for item in ones
        ),
    )
    for wave, ones in plan.own:
        clusters = ledger.state.of(item.id for item in ones)
        if refusal(wave, clusters):
            ledger.forget([cluster for cluster in clusters if may_be_repaired(cluster)])
    if plan.request.judged is not None:
        ledger.take_over(plan.request.judged)
    return ledger


def _durations(run: RunFolder) -> dict[str, float]:
    """Return the seconds of each cluster in the previous run; empty if its journal is damaged, as they only affect the
    order.
    """
    earlier = next((item for item in runs(run.path.parent.parent) if item.name < run.name), None)
    if earlier is None:
        return {}
    try:
        clusters = [entry["cluster"] for entry in earlier.entries() if entry["event"] == "compiled"]
        return {cluster["id"]: cluster["seconds"] for cluster in clusters}
    except (CommodoreError, LookupError, TypeError):
        return {}
