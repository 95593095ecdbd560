"""Clusters on the workers of a Dask cluster. The only module that imports `distributed`.

A task carries plain data: the cluster with its facts, the options, the commits that versions are. It carries no tokens:
workers use the git credentials of their own machine, and reports to Lieutenant are sent by the process that began the
run. The state of clusters is kept in the journal of this process, not by the scheduler.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import platform
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dask
import distributed

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.events import Event, InCluster, Noted, Warned
from commodore.base.limits import Limits
from commodore.base.programs.workers import usable_cpus
from commodore.catalog import CatalogCompile, Shared, StagedCatalog, open_engine
from commodore.clusters.compiled import Compiled
from commodore.clusters.outcome import FAILURES_IN_A_ROW, ClusterOutcome
from commodore.clusters.request import DaskOptions
from commodore.clusters.task import UNKNOWN_COMMIT, ClusterWork, Keep, ThreadEvents
from commodore.core.lieutenant import Cluster, ClusterSource
from commodore.core.sources.git import Pin, RemoteAnswers, redact
from commodore.core.tools import find_tools
from commodore.version import __version__

_POLL_INTERVAL = 0.5  # seconds between two checks of a task, and of the available workers
_ALLOWED_FAILURES = 2  # the number of workers that may die of one cluster
_CancelledInside = UnboundLocalError  # raised by distributed.utils.sync if a call is cancelled as it times out
_LOGGERS = ("distributed", "tornado", "asyncio")
_LIBRARIES = ("commodore-catalog", "kapitan", "gojsonnet", "reclass-rs")
_TOOLS = ("helm", "kustomize")


@dataclass(frozen=True, slots=True)
class _Task:
    run: str
    request: CatalogCompile
    folder: Path
    log: Path
    cluster: Cluster
    outcome: ClusterOutcome
    pins: Mapping[Pin, str]
    timeout: float
    keep: Keep
    pushed: tuple[str, ...] | None = None  # the commits that may have been pushed; None to only compile


@dataclass(frozen=True, slots=True)
class _TaskResult:
    compiled: Compiled
    pins: Mapping[Pin, str] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    reports: tuple[Mapping[str, Any], ...] = ()
    worker: str = ""  # its address; empty without an answer

    @property
    def may_pass(self) -> bool:
        """True if the cluster may succeed on another worker."""
        return bool(self.worker) and self.compiled.outcome.may_pass


@dataclass(frozen=True, slots=True)
class _SubmittedTask:
    """A submitted task, and an event for its end, successful or not."""

    future: Any
    ended: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class _TaskSource:
    """The cluster source of a worker: the cluster of its task. Reports are returned to the process of the run."""

    cluster: Cluster
    reports: list[Mapping[str, Any]] = field(default_factory=list)

    def load(self, cluster: str, context: Context) -> Cluster:
        return self.cluster

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        self.reports.append(body)


class _RunPlugin(distributed.WorkerPlugin):  # type: ignore[misc]
    """The engine and the answers of remotes, shared by the clusters of a run in a worker process."""

    def __init__(self, request: CatalogCompile, limits: Limits) -> None:
        self._request = request
        self._limits = limits

    def setup(self, worker: Any) -> None:
        self.lock = threading.Lock()
        self.collected: list[Event] = []
        self.staged: dict[str, StagedCatalog] = {}
        self.stopped = threading.Event()
        self.context = Context(self._on_event, self._limits)
        self.thread_events = ThreadEvents(self._on_event)
        self.answers = RemoteAnswers(self.context)
        self._shared: Shared | None = None

    def shared(self) -> Shared:
        """Return the engine and the answers of remotes that clusters share.

        Raises:
            EnvironmentFault: the engine is not usable on this machine.
        """
        if self._shared is None:
            engine = open_engine(self._request.options, self.context.with_announce(self.thread_events.announce))
            self._shared = Shared(engine, self.answers)
        return self._shared

    def teardown(self, worker: Any) -> None:
        self.stopped.set()
        self.context.cancellation.cancel()
        self.answers.end()
        if self._shared is not None:
            self._shared.engine.close()

    def _on_event(self, event: Event) -> None:
        inner = event.event if isinstance(event, InCluster) else event
        if isinstance(inner, Warned) or (isinstance(inner, Noted) and inner.level == 0):
            self.collected.append(event)


def _versions(limits: Limits) -> dict[str, str]:
    """Return the versions that must be equal on all machines."""
    tools = find_tools(Context(lambda _: None, limits), _TOOLS)
    return {
        "commodore": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: importlib.metadata.version(name) for name in _LIBRARIES},
        **{name: (tool.version if tool is not None else None) or "none" for name, tool in tools.items()},
    }


async def _join(run: str, request: CatalogCompile, limits: Limits, dask_worker: Any) -> dict[str, str]:
    """Add a worker to a run, and return its versions."""
    await dask_worker.plugin_add(plugin=_RunPlugin(request, limits), name=run)
    return _versions(limits)


async def _leave(run: str, dask_worker: Any) -> None:
    if run in dask_worker.plugins:
        await dask_worker.plugin_remove(name=run)


def _run_in_worker(task: _Task) -> _TaskResult:
    """Run a task; a worker runs one task at a time."""
    worker = distributed.get_worker()
    member: _RunPlugin = worker.plugins[task.run]
    with member.lock:
        member.collected.clear()
        member.answers.forget()
        member.answers.adopt(task.pins)
        source = _TaskSource(task.cluster)
        try:
            shared = member.shared()
        except CommodoreError as error:
            return _TaskResult(Compiled(task.outcome.failing(error)), worker=worker.address)
        work = ClusterWork(
            request=task.request,
            clusters=task.folder,
            source=source,
            shared=shared,
            events=member.thread_events,
            log=lambda _: task.log,
            retries=0,  # another worker retries
            timeout=task.timeout,
            stopped=member.stopped,
            keep=task.keep,
        )
        name = task.cluster.id
        if task.pushed is not None:
            compiled = Compiled(task.outcome, staged=member.staged.pop(name, None))
            done = Compiled(work.publish(compiled, task.pushed, lambda _: None, member.context))
        else:
            done = work.compile(task.outcome, member.context)
            if done.staged is not None and task.request.push:
                member.staged[name] = done.staged
        return _TaskResult(
            replace(done, staged=None),
            member.answers.pins,
            tuple(member.collected),
            tuple(source.reports),
            worker.address,
        )


class DaskWork:
    """Compile and publish clusters like `ClusterWork`, on the workers of a Dask cluster.

    Args:
        local: the configuration of the work; it does not run in this process.
        context: receives warnings about unused workers. Its limits apply to the workers, too.

    Raises:
        EnvironmentFault: CMD-FLT-106, the scheduler is unreachable, or no worker is usable.
    """

    def __init__(self, options: DaskOptions, local: ClusterWork, context: Context) -> None:
        self._local = local
        self._context = context
        self._limits = context.limits
        self._most = options.workers
        self._scheduler = options.scheduler or "the scheduler"
        self._run = f"commodore-{secrets.token_hex(8)}"
        self._request = local.request if options.scheduler else _divided(local.request, options.workers)
        self._versions = _versions(self._limits)
        self._lock = threading.Lock()
        self._asked: dict[str, bool] = {}  # whether a worker may be used, by its address
        self._failures: dict[str, int] = {}  # environment errors in a row, by address
        self._usable: frozenset[str] = frozenset()
        self._updated = 0.0
        self._cluster: Any = None
        self._client: Any = None
        self._awaited = ""
        self._logs = contextlib.ExitStack()
        self._logs.enter_context(_announcing_logs(context))
        try:
            with _reaching(self._scheduler):
                self._connect(options)
                self._wait_for_workers()
        except BaseException:
            self.close()
            raise

    def _connect(self, options: DaskOptions) -> None:
        if not options.scheduler:
            with dask.config.set(
                {"distributed.scheduler.allowed-failures": _ALLOWED_FAILURES, "distributed.worker.daemon": False}
            ):
                self._cluster = distributed.LocalCluster(
                    n_workers=options.workers or usable_cpus(),
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs=50,
                )
        wait = self._limits.dask_connect
        if options.is_secure and distributed.Security().get_connection_args("client")["ssl_context"] is None:
            raise EnvironmentFault(
                "CMD-FLT-106",
                f"{self._scheduler} cannot be used: the configuration of Dask has no TLS certificates",
                hint="set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, and CERT and KEY of "
                "DASK_DISTRIBUTED__COMM__TLS__CLIENT__..., to files of this machine",
            )
        if options.scheduler:
            self._announce_wait(f"for {self._scheduler}", wait)
        self._client = distributed.Client(self._cluster or options.scheduler, timeout=wait, set_as_default=False)
        if not self._client.scheduler_info()["workers"]:
            self._announce_wait(f"for a worker of {self._scheduler}", self._limits.dask_wait)
        self._client.wait_for_workers(1, timeout=self._limits.dask_wait)

    def _announce_wait(self, what: str, limit: float) -> None:
        """Announce once that the run waits for `what`; an empty `what` ends the wait."""
        with self._lock:
            is_new, self._awaited = bool(what) and what != self._awaited, what
        if is_new:
            self._context.announce(Noted(f"waiting {what}, at most {limit:g} s"))

    def _wait_for_workers(self) -> None:
        """Wait for a usable worker; the current workers may be shutting down."""
        start = time.monotonic()
        while not self._usable:
            self._update_workers()
            if self._asked and not any(self._asked.values()):
                raise _unavailable("no worker has the same versions as this machine")
            if time.monotonic() - start > self._limits.dask_wait:
                raise _unavailable("no worker answers")
            self._local.stopped.wait(0.0 if self._usable else _POLL_INTERVAL)

    @property
    def threads(self) -> int:
        """The number of clusters processed at once."""
        return min(len(self._usable), self._most or len(self._usable))

    def _update_workers(self) -> None:
        """Update the usable workers. New workers must have the same versions as this machine."""
        if not self._lock.acquire(blocking=False):
            return  # another thread updates them
        try:
            if self._updated and time.monotonic() - self._updated < _POLL_INTERVAL:
                return
            try:
                ask, wait = self._client.scheduler.ncores, self._limits.dask_wait
                alive = frozenset(self._client.sync(ask, callback_timeout=wait))
            except _CancelledInside:
                return  # the next update sees it
            new = sorted(alive - self._asked.keys())
            if new:
                answers = self._client.run(
                    _join, self._run, self._request, self._limits, workers=new, on_error="return"
                )
                for address, theirs in answers.items():
                    if not isinstance(theirs, OSError):  # it is shutting down, or is added by the next update
                        self._asked[address] = self._is_same(address, theirs)
            self._usable = frozenset(address for address in alive if self._asked.get(address))
            self._updated = time.monotonic()
        finally:
            self._lock.release()

    def _is_same(self, address: str, theirs: Any) -> bool:
        ours = self._versions
        if isinstance(theirs, dict):
            other = ", ".join(f"{name} {theirs.get(name)}" for name in ours if theirs.get(name) != ours[name])
        else:
            other = f"no usable commodore ({theirs})"
        if other:
            self._context.announce(
                Warned(
                    "CMD-FLT-108",
                    f"the worker {address} is not used: it has {other}",
                    hint=f"install the versions of this machine: {', '.join(f'{name} {ours[name]}' for name in ours)}",
                )
            )
        return not other

    def compile(self, outcome: ClusterOutcome, context: Context) -> Compiled:
        """See `ClusterWork.compile`."""
        return self._run_task(outcome, None, context)

    def publish(
        self, compiled: Compiled, commits: Sequence[str], before_push: Callable[[str], None], context: Context
    ) -> ClusterOutcome:
        """See `ClusterWork.publish`. The pushed commit is unknown here before the push."""
        before_push(UNKNOWN_COMMIT)
        return self._run_task(compiled.outcome, (*commits, UNKNOWN_COMMIT), context).outcome

    def _run_task(self, outcome: ClusterOutcome, pushed: tuple[str, ...] | None, context: Context) -> Compiled:
        local = self._local
        try:
            cluster = _without_credentials(local.source.load(outcome.id, context))
        except CommodoreError as error:
            return Compiled(outcome.failing(error))
        task = _Task(
            run=self._run,
            request=self._request,
            folder=local.clusters,
            log=local.log(outcome.id),
            cluster=cluster,
            outcome=outcome,
            pins=local.answers.pins,
            timeout=local.timeout,
            keep=local.keep,
            pushed=pushed,
        )
        answer = self._retry(task, context)
        settled = {pin: local.answers.settle(*pin, commit) for pin, commit in answer.pins.items()}
        if pushed is None and settled != dict(answer.pins):  # a branch moved between two tasks
            answer = self._retry(replace(task, pins=settled), context)
        for event in answer.events:
            context.announce(event)
        _report(local.source, outcome.id, answer.reports, context)
        return answer.compiled

    def _retry(self, task: _Task, context: Context) -> _TaskResult:
        """Run a task on a worker, and retry on another worker after an environment error."""
        local, number = self._local, 1
        answer = self._run_on_worker(task)
        self._count(answer)
        while answer.may_pass and number <= local.retries and not local.stopped.is_set():
            local.pause(
                replace(answer.compiled.outcome, attempts=number),
                context.with_announce(lambda event: context.announce(InCluster(task.cluster.id, event))),
            )
            number, before = number + 1, answer
            answer = self._run_on_worker(task, before.worker)
            self._count(answer)
            answer = replace(
                answer, events=(*before.events, *answer.events), reports=(*before.reports, *answer.reports)
            )
        if task.pushed is not None:
            return answer
        outcome = replace(answer.compiled.outcome, attempts=number)
        return replace(answer, compiled=replace(answer.compiled, outcome=outcome))

    def _count(self, answer: _TaskResult) -> None:
        """Stop using a worker after repeated failures, unless it is the last one."""
        address = answer.worker
        with self._lock:
            self._failures[address] = self._failures.get(address, 0) + 1 if answer.may_pass else 0
            others = self._usable - {address}
            if self._failures[address] < FAILURES_IN_A_ROW or not others or address not in self._usable:
                return
            self._asked[address] = False
            self._usable = others
        error = answer.compiled.outcome.error
        assert error is not None, "it was counted"
        self._context.announce(
            Warned(
                "CMD-FLT-125",
                f"the worker {address} gets no more clusters: {FAILURES_IN_A_ROW} in a row failed on it, the last one "
                f"with {error.message}",
                hint="check its disk, network and credentials",
            )
        )

    def _run_on_worker(self, task: _Task, avoided: str = "") -> _TaskResult:
        """Run a task on a worker; the avoided worker is used only if nothing else is available.

        The task is submitted to the current workers, and again to new workers if all of them are gone. Running a task
        twice is harmless: see `ClusterWork.publish`.

        Raises:
            EnvironmentFault: CMD-FLT-106, the scheduler or all workers are gone.
        """
        given: _SubmittedTask | None = None
        workers: frozenset[str] = frozenset()
        alone_since = 0.0
        while not self._local.stopped.is_set():
            with _reaching(self._scheduler):
                if workers.isdisjoint(self._usable):
                    workers = self._usable - {avoided} or self._usable
                    given = self._submit(task, workers) if workers else None
                answer = self._wait(given, task)
                if answer is not None:
                    return answer
                connected = self._client.status == "running"
                if connected:
                    self._update_workers()
            alone_since = 0.0 if connected and self._usable else alone_since or time.monotonic()
            missing = "a worker" if connected else "the scheduler"
            self._announce_wait(f"for {missing} to come back" if alone_since else "", self._limits.dask_wait)
            if alone_since and time.monotonic() - alone_since > self._limits.dask_wait:
                raise _unavailable("no worker is left" if connected else "the scheduler does not answer any more")
        if given is not None:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                given.future.cancel()
        return _TaskResult(Compiled(replace(task.outcome, state="cancelled")))

    def _submit(self, task: _Task, workers: frozenset[str]) -> _SubmittedTask:
        given = _SubmittedTask(self._client.submit(_run_in_worker, task, pure=False, workers=list(workers)))
        given.future.add_done_callback(lambda _: given.ended.set())
        return given

    def _wait(self, given: _SubmittedTask | None, task: _Task) -> _TaskResult | None:
        """Return the result of a task if it ends soon. The result is fetched without a timeout once it exists: on a
        busy machine that takes longer than a poll interval, and an interrupted fetch begins again from the start.
        """
        if given is None:
            self._local.stopped.wait(_POLL_INTERVAL)
            return None
        if not given.ended.wait(_POLL_INTERVAL):
            return None
        try:
            answer: _TaskResult = given.future.result(timeout=self._limits.dask_wait)
        except (TimeoutError, _CancelledInside):
            return None
        except distributed.KilledWorker:
            error = EnvironmentFault(
                "CMD-FLT-107",
                f"cluster {task.cluster.id} has ended several workers",
                hint="they may have too little memory; compile the cluster alone to check",
            )
            return _TaskResult(Compiled(task.outcome.failing(error)))
        return answer

    def close(self) -> None:
        """Remove the run from its workers, and stop workers that were started here."""
        client, cluster = self._client, self._cluster
        if client is not None and cluster is None and client.status == "running":
            with contextlib.suppress(Exception):  # without its scheduler, Dask raises various errors
                client.run(_leave, self._run, on_error="ignore")
        for item in (client, cluster):
            with contextlib.suppress(Exception):
                if item is not None:
                    item.close()
        self._logs.close()


def _divided(request: CatalogCompile, workers: int) -> CatalogCompile:
    """Return the request for one of several workers of this machine, which share its CPUs."""
    cpus = usable_cpus()
    processes = max(1, (request.options.processes or cpus) // (workers or cpus))
    return replace(request, options=replace(request.options, processes=processes))


def _without_credentials(cluster: Cluster) -> Cluster:
    tenant = replace(
        cluster.tenant, config_url=redact(cluster.tenant.config_url), global_url=redact(cluster.tenant.global_url)
    )
    return replace(cluster, catalog_url=redact(cluster.catalog_url), tenant=tenant)


def _report(source: ClusterSource, cluster: str, bodies: Sequence[Mapping[str, Any]], context: Context) -> None:
    for body in bodies:
        try:
            source.report(cluster, body)
        except CommodoreError as error:
            context.announce(
                Warned(
                    "CMD-FLT-123",
                    f"the versions of the catalog of {cluster} could not be reported: {error.message}",
                    hint="the catalog is pushed; the next push of the cluster reports again",
                )
            )


class _LogRecords(logging.Handler):
    """Announce the messages of loggers without tracebacks; the raised error has the relevant information."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context

    def emit(self, record: logging.LogRecord) -> None:
        if message := record.getMessage():
            self._context.announce(Noted(f"{record.name}: {message}", level=1))


@contextlib.contextmanager
def _announcing_logs(context: Context) -> Iterator[None]:
    """Announce the log records of Dask in this process, instead of writing them to standard error."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _LOGGERS]
    loggers = [logging.getLogger(name) for name in names]
    before = [(logger, logger.handlers, logger.propagate) for logger in loggers]
    for logger in loggers:
        is_top = logger.name in _LOGGERS
        logger.handlers, logger.propagate = ([_LogRecords(context)] if is_top else []), not is_top
    try:
        yield
    finally:
        for logger, handlers, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate


@contextlib.contextmanager
def _reaching(scheduler: str) -> Iterator[None]:
    """Translate Dask's exceptions for an unreachable scheduler to the error that ends a run.

    Raises:
        EnvironmentFault: CMD-FLT-106.
    """
    try:
        yield
    except distributed.CancelledError as error:
        raise _unavailable("the scheduler is gone, or has forgotten its tasks") from error
    except (OSError, distributed.client.ClosedClientError) as error:
        raise _unavailable(f"{scheduler} cannot be used: {error}") from error


def _unavailable(why: str) -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-FLT-106", why, hint="check that the scheduler and its workers run, then continue with --resume"
    )
