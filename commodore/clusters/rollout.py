"""The rollout of a run wave by wave: compile, judge, publish, soak. Only judged catalogs are pushed.

Each step takes the run and the state of its ledger, and writes its result there before the next step uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

from commodore.base.errors import InputError
from commodore.base.events import WaveEnded
from commodore.base.files.workspace import write_atomically
from commodore.clusters.compiling import Begun, begin, finish
from commodore.clusters.judging import judge, refusal
from commodore.clusters.opening import Run, with_workers
from commodore.clusters.outcome import FAILURES_IN_A_ROW
from commodore.clusters.publishing import publish, soak
from commodore.clusters.report.model import FleetReport, WaveResult, pins_of, report_bytes
from commodore.clusters.waves import Wave
from commodore.version import __version__

_GOOD = ("compiled", "published")
Ask = Callable[[Wave, FleetReport], bool]
"""Confirms that a wave within its limits is published."""


def roll_out(run: Run, ask: Ask) -> FleetReport:
    """Compile and publish the waves until one fails. The report is also written to the folder of the run."""
    results: dict[str, WaveResult] = {}
    try:
        with with_workers(run) as run:
            _waves(run, ask, results)
        if all(result.state in _GOOD for result in results.values()):
            run.ledger.end()  # else it can be resumed once the cause is removed
    except BaseException:
        run.stop()
        _write(run, report_of(run, results))
        raise
    report = report_of(run, results)
    _write(run, report)
    return report


def _waves(run: Run, ask: Ask, results: dict[str, WaveResult]) -> None:
    """Append the result of each wave that is begun."""
    waves = [(wave, run.plan.ids(wave)) for wave, _ in run.plan.own]
    pool = ThreadPoolExecutor(run.work.threads, thread_name_prefix="cluster")
    try:
        ahead: Begun = {}
        if run.plan.request.ahead and run.plan.request.request.push:
            for _, ids in waves:
                ahead = {**ahead, **begin(run, pool, ids, {})}
        for wave, ids in waves:
            results[wave.name] = WaveResult.of(wave, "interrupted")
            results[wave.name] = _wave(run, wave, begin(run, pool, ids, ahead), results, ask)
            run.context.announce(WaveEnded(wave.name, results[wave.name].state))
            ahead = {name: future for name, future in ahead.items() if name not in ids}  # drops staged catalogs
            if results[wave.name].state not in _GOOD:
                break
        if any(not future.done() for future in ahead.values()):
            run.stop()  # clusters of later waves that were begun ahead
    except BaseException:
        run.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _wave(run: Run, wave: Wave, begun: Begun, results: Mapping[str, WaveResult], ask: Ask) -> WaveResult:
    """Compile a wave, judge it, publish it, and let it soak."""
    result, request = results[wave.name], run.plan.request
    ids = run.plan.ids(wave)
    compiled = finish(run, wave.name, begun)
    if run.is_exhausted:
        reason = f"{FAILURES_IN_A_ROW} clusters in a row failed as this machine is exhausted; no more were begun"
        return replace(result, state="failed", reason=reason)
    if not request.request.push:
        return replace(result, state="compiled")
    state = run.ledger.state
    if wave.name not in state.judged:
        approval = "" if wave.name in request.approved else f"--resume {run.folder.name} --approve {wave.name}"
        refused = judge(result, wave, state.of(ids), approval, lambda: ask(wave, report_of(run, results)))
        if refused is not None:
            return refused
        run.ledger.write("judged", wave=wave.name)
    publish(run, wave, state.of(ids), compiled)
    reason = refusal(wave, run.ledger.state.of(ids))
    if reason:
        return replace(result, state="failed", reason=reason)
    reason = soak(run, wave, is_last=wave is run.plan.own[-1][0])
    if reason:
        return replace(result, state="refused", reason=reason, exit_code=InputError.exit_code)
    return replace(result, state="published")


def report_of(run: Run, results: Mapping[str, WaveResult]) -> FleetReport:
    """Return the report of the run so far."""
    plan, request, state = run.folder.read_plan(), run.plan.request, run.ledger.state
    assert run.shared.answers is not None
    return FleetReport(
        run=run.folder.name,
        started=plan.started,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        commodore=__version__,
        options_digest=plan.digest,
        planned=len(plan.clusters),
        push=request.request.push,
        shard=request.shard,
        pins=pins_of(run.shared.answers.pins),
        waves=tuple(results.get(wave.name) or WaveResult.of(wave, "not-begun") for wave, _ in run.plan.own),
        clusters=tuple(sorted(state.outcomes.values(), key=lambda outcome: outcome.id)),
        groups=run.ledger.groups(),
        folder=run.folder.path,
    )


def _write(run: Run, report: FleetReport) -> None:
    write_atomically(run.folder.report, report_bytes(report), durable=True)
