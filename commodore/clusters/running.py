"""`fleet compile`: all clusters of a run, wave by wave. Nothing is pushed that was not judged.

Each wave is compiled, judged, and published if it is good. What becomes of each cluster goes to the journal before the
run relies on it, so that a run that was killed at any moment can go on: clusters that are done are not done again, and
what was compiled and not pushed is compiled again, and pushed if it is what was judged.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError, UsageError
from commodore.base.events import ClusterBegun, ClusterEnded, Warned, WaveBegun, WaveEnded
from commodore.base.exhaustion import is_exhaustion
from commodore.base.files.workspace import Workspace, write_atomically
from commodore.base.printable import some_of
from commodore.base.programs.workers import usable_cpus
from commodore.catalog.pipeline import CatalogCompile, Shared
from commodore.catalog.stages import open_engine
from commodore.clusters.dask_options import DaskOptions
from commodore.clusters.health import unhealthy
from commodore.clusters.journal import Journal, RunFolder, check_same, find_run, new_run, runs
from commodore.clusters.judging import refusal
from commodore.clusters.outcome import FAILURES_IN_A_ROW, ClusterOutcome
from commodore.clusters.report.model import FleetReport, WaveResult, as_pins, pins_of
from commodore.clusters.selection import Candidate, ClusterSelection, Shard
from commodore.clusters.sources import FleetSource
from commodore.clusters.task import ClusterWork, Compiled, Keep, Voices, Work
from commodore.clusters.waves import ALL_CLUSTERS, Wave, assign, check_waves
from commodore.core.engine import Engine
from commodore.core.review.hunk_groups import Groups, Hunk
from commodore.core.sources.git import Pin, RemoteAnswers
from commodore.fleet.promotion.status_file import named_cells, read_states
from commodore.version import __version__

_GOOD = ("compiled", "published")
Ask = Callable[[Wave, FleetReport], bool]
"""Is shown a wave that is good, and says whether to publish it."""


@dataclass(frozen=True, slots=True)
class FleetCompile:
    """What to compile and how; the fields are the options of the command.

    Attributes:
        request: how each cluster is compiled. Its workspace is the folder of the run; its cluster is not looked at.
        approved: names of waves with a manual gate that may be published.
        ahead: whether clusters of later waves are compiled while earlier ones are judged, published and watched.
        status: files with the state of applications; with some, a wave must be healthy when it has soaked.
        status_age: seconds; older files are refused.
        workers: clusters that are compiled at once; 0 for one per usable CPU.
        retries: how often a cluster is tried again after an environment's error.
        timeout: seconds that one attempt at a cluster may take.
        keep: what stays of the clusters' workspaces: all, what the next run needs to know (`state`), or nothing.
        resume: the run to go on with, empty for the newest unfinished one; None begins a new run.
        pins: what versions are, besides what is asked.
        dask: where clusters are compiled if not in this process.
        judged: the report of a run whose catalogs are published now, without compiling others.
    """

    request: CatalogCompile
    selection: ClusterSelection = field(default_factory=ClusterSelection)
    waves: tuple[Wave, ...] = ALL_CLUSTERS
    shard: Shard | None = None
    approved: frozenset[str] = frozenset()
    ahead: bool = False
    status: tuple[str, ...] = ()
    status_age: float = 900.0
    workers: int = 0
    retries: int = 2
    timeout: float = 1800.0
    keep: Keep = "all"
    resume: str | None = None
    pins: Mapping[Pin, str] = field(default_factory=dict)
    dask: DaskOptions | None = None
    judged: FleetReport | None = None

    @property
    def deciding(self) -> dict[str, str]:
        """A digest of each option that decides about the catalogs, and of the waves in which they are pushed."""
        values: dict[str, object] = {"--waves, --canary or --max-failures": self.waves}
        for given in (self.request, self.request.options, self.selection):
            for field_ in fields(given):
                if field_.name not in _NOT_DECIDING:
                    option = _OPTIONS.get(field_.name, f"--{field_.name.replace('_', '-')}")
                    values[option] = getattr(given, field_.name)
        return {option: hashlib.sha256(repr(value).encode()).hexdigest() for option, value in values.items()}

    @property
    def digest(self) -> str:
        """A digest of all that decides."""
        return hashlib.sha256(json.dumps(self.deciding).encode()).hexdigest()


# Caches are left out: jobs of one run may write to them, or only read.
_NOT_DECIDING = {"cluster", "workspace", "push", "author", "options"}
_NOT_DECIDING |= {"processes", "verbose", "cached", "shadow", "remote", "allowed"}
_OPTIONS = {
    "global_revision": "--global-repo-revision-override",
    "tenant_revision": "--tenant-repo-revision-override",
    "diff_mode": "--migration",
    "fetch": "--fetch-dependencies",
    "policy": "--trust-policy",
    "ids": "CLUSTER",
    "tenants": "--tenant",
    "facts": "--fact",
}


def compile_fleet(wanted: FleetCompile, source: FleetSource, ask: Ask, context: Context) -> FleetReport:
    """Compile the catalogs of many clusters, and publish them wave by wave.

    Args:
        ask: is asked about each wave that is good, before it is published.

    Returns:
        what became of each cluster; it is also in the folder of the run.

    Raises:
        CommodoreError: nothing was begun: no such clusters, another run in this folder, another run to go on with.
    """
    wanted.request.check()
    if wanted.dask is not None:
        wanted.dask.check()
    folder = Workspace.at(wanted.request.workspace.root / "fleet")
    with folder.locked(context.limits):
        known = [Candidate.of(one) for one in source.list(context)]
        chosen = wanted.selection.choose(known)
        check_waves(wanted.waves, known, chosen)
        assigned = assign(chosen, wanted.waves)
        if wanted.approved or wanted.status:
            _check_names(wanted, known, context)
        _warn_about_empty(assigned, context)
        run = _open_run(folder.root, wanted, assigned)
        own = [(wave, tuple(one for one in ones if _is_own(wanted, one))) for wave, ones in assigned]
        fleet = _Fleet(wanted, source, ask, context, run, own)
        try:
            return fleet.go()
        finally:
            fleet.close()


def _check_names(wanted: FleetCompile, known: Sequence[Candidate], context: Context) -> None:
    """Refuse names of waves and clusters in options that do not exist, and a status that no wave waits for.

    Raises:
        UsageError: CMD-FLT-090, there is no such wave or cluster; CMD-FLT-121, no wave soaks.
        CommodoreError: a status file cannot be read.
    """
    from commodore.fleet.generating import check_known  # loads the generator of charts, which few runs need

    check_known("wave", sorted(wanted.approved), [wave.name for wave in wanted.waves])
    check_known("cluster", named_cells(wanted.status), sorted(one.id for one in known))
    if wanted.status and not any(wave.soak for wave in wanted.waves):
        raise UsageError(
            "CMD-FLT-121",
            "--status is read when a wave has soaked, and no wave soaks",
            hint="give a wave a `soak` in the file of --waves, or leave --status out",
        )
    read_states(wanted.status, math.inf, context.limits)


def _warn_about_empty(assigned: Sequence[tuple[Wave, Sequence[Candidate]]], context: Context) -> None:
    for wave, ones in assigned:
        if not ones and not wave.clusters.is_all:
            context.announce(
                Warned(
                    "CMD-FLT-126",
                    f"wave {wave.name} has none of the chosen clusters",
                    hint="nothing is tried in it before later waves are pushed; choose one of its clusters, too",
                )
            )


def _is_own(wanted: FleetCompile, one: Candidate) -> bool:
    return wanted.shard is None or wanted.shard.holds(one.id)


def _open_run(folder: Path, wanted: FleetCompile, assigned: Sequence[tuple[Wave, Sequence[Candidate]]]) -> RunFolder:
    shard = wanted.shard
    plan: dict[str, Any] = {
        "version": 1,
        "commodore": __version__,
        "started": _now(),
        "digest": wanted.digest,
        "options": wanted.deciding,
        "push": wanted.request.push,
        "shard": None if shard is None else [shard.index, shard.of],
        "clusters": [[one.id, wave.name] for wave, ones in assigned for one in ones],
    }
    if wanted.judged is not None:
        _check_judged(wanted.judged, plan)
    if wanted.resume is None:
        return new_run(folder, plan)
    run = find_run(folder, wanted.resume)
    check_same(run, plan)
    return run


class _Fleet:
    """One run in one process."""

    def __init__(
        self,
        wanted: FleetCompile,
        source: FleetSource,
        ask: Ask,
        context: Context,
        run: RunFolder,
        waves: Sequence[tuple[Wave, Sequence[Candidate]]],
    ) -> None:
        self._wanted = wanted
        self._ask = ask
        limits = replace(context.limits, lock_wait=context.limits.fleet_lock_wait)
        self._context = replace(context, limits=limits).nested()
        self._run = run
        self._waves = waves
        self._durations = _durations(run)
        self._plan = run.read_plan()
        self._stopped = threading.Event()
        self._groups = Groups()
        self._states: dict[str, WaveResult] = {}
        self._outcomes = {
            one.id: ClusterOutcome(one.id, one.display_name, one.tenant, wave.name)
            for wave, ones in waves
            for one in ones
        }
        self._compiled: dict[str, Compiled] = {}
        self._commits: dict[str, list[str]] = {}
        self._judged: set[str] = set()
        self._soaking: dict[str, float] = {}  # until when, in seconds since 1970
        self._soaked: set[str] = set()
        self._pool: ThreadPoolExecutor | None = None
        self._begun: dict[str, Future[None]] = {}
        self._lock = threading.Lock()
        self._exhausted = 0  # clusters in a row that failed as this machine lacks something
        self._noted: dict[Pin, str] = {}
        self._restore()
        self._journal = Journal(run)
        if wanted.judged is not None:
            self._take_over(wanted.judged)
        self._voices = Voices(context.announce)
        self._engine: Engine = open_engine(wanted.request.options, self._context.with_announce(self._voices.announce))
        self._answers = RemoteAnswers(self._context, {**wanted.pins, **self._noted})
        self._local = ClusterWork(
            request=wanted.request,
            clusters=wanted.request.workspace.root / "clusters",
            source=source,
            shared=Shared(self._engine, self._answers),
            voices=self._voices,
            log=run.log,
            retries=wanted.retries,
            timeout=wanted.timeout,
            stopped=self._stopped,
            threads=wanted.workers or usable_cpus(),
            keep=wanted.keep,
        )
        self._work: Work = self._local

    def _restore(self) -> None:
        """What an earlier process has done of this run."""
        for entry in self._run.entries():
            match entry["event"]:
                case "compiled":
                    self._groups.remove(entry["cluster"]["id"])  # it may have failed before
                    self._outcomes[entry["cluster"]["id"]] = ClusterOutcome.parse(entry["cluster"])
                    self._groups.add(entry["cluster"]["id"], map(Hunk.parse, entry["hunks"]))
                case "published":
                    self._outcomes[entry["cluster"]["id"]] = ClusterOutcome.parse(entry["cluster"])
                case "pushing":
                    self._commits.setdefault(entry["cluster"], []).append(entry["commit"])
                case "judged":
                    self._judged.add(entry["wave"])
                case "soaking":
                    self._soaking[entry["wave"]] = entry["until"]
                case "soaked":
                    self._soaked.add(entry["wave"])
                case "pin":
                    self._noted[entry["url"], entry["ref"]] = entry["commit"]
        for wave, ones in self._waves:
            clusters = self._of(one.id for one in ones)
            if refusal(wave, clusters):
                self._forget_failures(clusters)

    def _forget_failures(self, clusters: Sequence[ClusterOutcome]) -> None:
        """Let the clusters of a wave that stopped the run be compiled and judged again, for the cause may be removed.
        What was refused for safety is not: it needs a run that compares anew.
        """
        for one in clusters:
            if one.has_failed and one.exit_code != PolicyError.exit_code:
                self._outcomes[one.id] = ClusterOutcome(one.id, one.display_name, one.tenant, one.wave)
                self._groups.remove(one.id)
                self._judged.discard(one.wave)

    def _take_over(self, judged: FleetReport) -> None:
        """Go on where the run of a report has ended, as if it was this one."""
        groups = {group.example.id: group.example for group in judged.groups}
        for (url, ref), commit in as_pins(judged.pins).items():
            if (url, ref) not in self._noted:
                self._journal.write("pin", url=url, ref=ref, commit=commit)
                self._noted[url, ref] = commit
        for one in judged.clusters:
            if self._outcomes[one.id].state == "not-begun":
                hunks = [groups[name] for name in one.groups]
                self._journal.write(
                    "compiled", cluster=one.as_dict(), hunks=[hunk.as_dict(whole=True) for hunk in hunks]
                )
                self._groups.add(one.id, hunks)
                self._outcomes[one.id] = one

    def close(self) -> None:
        """End everything that still runs."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._work.close()
        self._answers.end()
        self._engine.close()
        self._journal.close()

    def go(self) -> FleetReport:
        """All waves."""
        try:
            if self._wanted.dask is not None:
                self._work = _on_dask(self._wanted.dask, self._local, self._context)
            self._pool = ThreadPoolExecutor(self._work.threads, thread_name_prefix="cluster")
            if self._wanted.ahead and self._wanted.request.push:
                for _, ones in self._waves:
                    self._begin([one.id for one in ones])
            for wave, ones in self._waves:
                result = self._wave(wave, [one.id for one in ones])
                self._states[wave.name] = result
                self._context.announce(WaveEnded(wave.name, result.state))
                if result.state not in _GOOD:
                    break
            if any(not future.done() for future in self._begun.values()):
                self._stop()  # what was begun ahead, of waves that have no turn
            if all(result.state in _GOOD for result in self._states.values()):
                self._journal.end()  # else it can go on once the cause is removed
        except BaseException:
            self._stop()
            self._write(self.report())
            raise
        report = self.report()
        self._write(report)
        return report

    def _stop(self) -> None:
        """Begin nothing any more, and end what runs."""
        self._stopped.set()
        self._context.cancellation.cancel()
        self._engine.close()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _wave(self, wave: Wave, ids: Sequence[str]) -> WaveResult:
        result = WaveResult(wave.name, "interrupted", wave=wave.as_dict())
        self._states[wave.name] = result
        begun = self._begin(ids)
        self._context.announce(WaveBegun(wave.name, len(begun), self._expected(ids)))
        for future in as_completed(begun):
            future.result()
        if self._is_exhausted:
            reason = f"{FAILURES_IN_A_ROW} clusters in a row failed as this machine lacks something; no more were begun"
            return replace(result, state="failed", reason=reason)
        if not self._wanted.request.push:
            return replace(result, state="compiled")
        why = self._judge(wave, ids)
        if why:
            return replace(result, **why)
        self._publish_all(wave, ids)
        reason = refusal(wave, self._of(ids))
        if reason:
            return replace(result, state="failed", reason=reason)
        reason = self._soak(wave, [one.id for one in self._of(ids) if one.state == "pushed"])
        if reason:
            return replace(result, state="refused", reason=reason, exit_code=InputError.exit_code)
        return replace(result, state="published")

    def _begin(self, ids: Sequence[str]) -> list[Future[None]]:
        """Compile what is not compiled yet of these clusters, those first that took longest the last time."""
        assert self._pool is not None
        left = [one for one in self._of(ids) if one.id in self._begun or one.state in ("not-begun", "cancelled")]
        left.sort(key=lambda one: (-self._durations.get(one.id, 0.0), one.id))
        for one in left:
            if one.id not in self._begun:
                self._begun[one.id] = self._pool.submit(self._compile, one)
        return [self._begun[one.id] for one in left]

    def _expected(self, ids: Sequence[str]) -> float:
        """Seconds that compiling what is left of these clusters takes, if it takes as long as the last time."""
        left = [one.id for one in self._of(ids) if one.state in ("not-begun", "cancelled")]
        known = [self._durations[name] for name in left if name in self._durations]
        return sum(known) / self._work.threads if len(known) == len(left) else 0.0

    def _soak(self, wave: Wave, pushed: Sequence[str]) -> str:
        """Let some time pass after a wave was pushed; why no later wave may begin then, or nothing."""
        is_last = wave is self._waves[-1][0] and not self._wanted.status
        if not pushed or not wave.soak or is_last or wave.name in self._soaked:
            return ""
        if wave.name not in self._soaking:
            self._soaking[wave.name] = time.time() + wave.soak
            self._journal.write("soaking", wave=wave.name, until=self._soaking[wave.name])
        self._stopped.wait(max(0.0, self._soaking[wave.name] - time.time()))
        if self._wanted.status:
            state = read_states(self._wanted.status, self._wanted.status_age, self._context.limits)
            ill = list(unhealthy(state, pushed))
            if ill:
                return f"wave {wave.name} is not healthy: {some_of(ill)} (go on with --resume {self._run.name})"
        self._journal.write("soaked", wave=wave.name)
        return ""

    def _judge(self, wave: Wave, ids: Sequence[str]) -> dict[str, Any]:
        """Why a wave is not published, as fields of its result; nothing if it is."""
        if wave.name in self._judged:
            return {}
        clusters = self._of(ids)
        reason = refusal(wave, clusters)
        if reason:
            return {"state": "failed", "reason": reason, "exit_code": _exit_code(clusters)}
        if any(one.state == "changed" for one in clusters):
            if wave.manual and wave.name not in self._wanted.approved:
                reason = f"wave {wave.name} must be approved (--resume {self._run.name} --approve {wave.name})"
                return {"state": "refused", "reason": reason, "exit_code": PolicyError.exit_code}
            if not self._ask(wave, self.report()):
                return {"state": "failed", "reason": "you have said no"}
        self._journal.write("judged", wave=wave.name)
        return {}

    def _of(self, ids: Iterable[str]) -> list[ClusterOutcome]:
        return [self._outcomes[name] for name in ids]

    @property
    def _is_exhausted(self) -> bool:
        """Whether all other clusters would fail, too. Workers elsewhere are left out one by one (`DaskWork`)."""
        return self._work is self._local and self._exhausted >= FAILURES_IN_A_ROW

    def _compile(self, one: ClusterOutcome) -> None:
        if self._stopped.is_set() or self._is_exhausted:
            return
        self._context.announce(ClusterBegun(one.id, one.wave))
        done = self._work.compile(one, self._context)
        failure = done.outcome.failure
        with self._lock:
            self._exhausted = self._exhausted + 1 if failure and is_exhaustion(failure.error["code"]) else 0
            self._note_pins()
            if done.outcome.state != "cancelled":
                first = {hunk.id for hunk in self._groups.add(one.id, done.hunks)}
                hunks = [hunk.as_dict(whole=hunk.id in first) for hunk in done.hunks]
                self._journal.write("compiled", cluster=done.outcome.as_dict(), hunks=hunks)
            self._outcomes[one.id] = done.outcome
            if done.staged is not None and self._wanted.request.push:
                self._compiled[one.id] = replace(done, hunks=())  # a fleet's would be many
        self._announce_outcome(done.outcome)

    def _note_pins(self) -> None:
        """Write down what versions are, before anything that was made of them counts."""
        for (url, ref), commit in self._answers.pins.items():
            if (url, ref) not in self._noted:
                self._journal.write("pin", url=url, ref=ref, commit=commit)
                self._noted[url, ref] = commit

    def _publish_all(self, wave: Wave, ids: Sequence[str]) -> None:
        """Publish the clusters that have changed."""
        changed = [one for one in self._of(ids) if one.state == "changed"]
        if not changed:
            return
        with ThreadPoolExecutor(min(wave.parallel, len(changed)), thread_name_prefix="publishing") as pool:
            try:
                for future in as_completed([pool.submit(self._publish, one) for one in changed]):
                    future.result()
            except BaseException:
                self._stop()
                raise

    def _publish(self, one: ClusterOutcome) -> None:
        if self._stopped.is_set():
            return
        self._context.announce(ClusterBegun(one.id, one.wave, publishing=True))
        compiled = self._compiled.pop(one.id, None) or Compiled(one)

        def pushing(commit: str) -> None:
            self._journal.write("pushing", cluster=one.id, commit=commit)

        done = self._work.publish(compiled, self._commits.get(one.id, ()), pushing, self._context)
        if done.state != "cancelled":
            with self._lock:
                self._journal.write("published", cluster=done.as_dict())
                self._outcomes[one.id] = done
        self._announce_outcome(done)

    def _announce_outcome(self, one: ClusterOutcome) -> None:
        error = one.failure.error if one.failure is not None else None
        detail = str(error["message"]) if error else ", ".join(f"{count} {what}" for what, count in one.summary.items())
        code = str(error["code"]) if error else ""
        self._context.announce(ClusterEnded(one.id, one.wave, one.state, one.seconds, detail, code))

    def report(self) -> FleetReport:
        """What has become of everything so far."""
        shard = self._wanted.shard
        results = [
            self._states.get(wave.name) or WaveResult(wave.name, "not-begun", wave=wave.as_dict())
            for wave, _ in self._waves
        ]
        return FleetReport(
            run=self._run.name,
            started=self._plan["started"],
            finished=_now(),
            commodore=__version__,
            digest=self._plan["digest"],
            planned=len(self._plan["clusters"]),
            push=self._wanted.request.push,
            shard=None if shard is None else (shard.index, shard.of),
            pins=pins_of(self._answers.pins),
            waves=tuple(results),
            clusters=tuple(sorted(self._outcomes.values(), key=lambda one: one.id)),
            groups=tuple(self._groups),
            folder=self._run.path,
        )

    def _write(self, report: FleetReport) -> None:
        write_atomically(self._run.report, json.dumps(report.as_dict(), indent=2).encode() + b"\n", durable=True)


def _on_dask(options: DaskOptions, local: ClusterWork, context: Context) -> Work:
    """Work on a Dask cluster.

    Raises:
        EnvironmentFault: CMD-FLT-104, Dask is not installed; CMD-FLT-106, the scheduler cannot be used.
    """
    try:
        from commodore.clusters.on_dask import DaskWork
    except ImportError as error:
        raise EnvironmentFault(
            "CMD-FLT-104", "Dask is not installed", hint="pip install 'commodore-catalog[dask]'"
        ) from error
    return DaskWork(options, local, context)


def _check_judged(judged: FleetReport, plan: Mapping[str, Any]) -> None:
    """Refuse a report that does not say what is to be published.

    Raises:
        PolicyError: CMD-FLT-111, it is of other clusters, options or another version.
    """
    same = (judged.digest, judged.commodore, sorted((one.id, one.wave) for one in judged.clusters))
    if same != (plan["digest"], plan["commodore"], sorted((one, wave) for one, wave in plan["clusters"])):
        raise PolicyError(
            "CMD-FLT-111",
            f"the report of {judged.run} cannot be published: clusters, options or the version of commodore differ",
            hint="give the options and clusters of then; of shards, the report of all of them",
        )


def _exit_code(clusters: Sequence[ClusterOutcome]) -> int:
    """What a wave adds that may not be published: nothing if one of its clusters has failed, which says it all."""
    return 0 if any(one.has_failed for one in clusters) else PolicyError.exit_code


def _durations(run: RunFolder) -> dict[str, float]:
    """How long clusters took in the run before this one, in seconds."""
    earlier = next((one for one in runs(run.path.parent.parent) if one.name < run.name), None)
    entries = earlier.entries() if earlier is not None else ()
    return {entry["cluster"]["id"]: entry["cluster"]["seconds"] for entry in entries if entry["event"] == "compiled"}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
