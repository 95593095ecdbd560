"""The controller: the known objects, the work queue, the decision, and the write."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from commodore.observe.cases import PlanOptions
from commodore.observe.cluster.announcing import Announcer
from commodore.observe.cluster.client import APPLICATIONS, KARGO, Client
from commodore.observe.cluster.creator import CreationOutcome, Creator
from commodore.observe.cluster.events import Recorder, Subject
from commodore.observe.cluster.index import Index
from commodore.observe.cluster.lease import Lease, LeaseLostError
from commodore.observe.cluster.metrics import Metrics
from commodore.observe.cluster.queue import WorkQueue
from commodore.observe.cluster.reflector import Pauses, Reflector
from commodore.observe.kargo import Application, KargoObject
from commodore.observe.planning import Decision, plan_stage
from commodore.observe.worlds import StageName, StageWorld, WatchScope, annotation_problems

_LOG = logging.getLogger(__name__)

_STUCK = 600.0  # a reflector without any answer for this time is stuck
_UNKNOWN = 60.0  # for this time a server may still carry out a request whose answer was lost
_TICK = 1.0


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """Options of a controller; times in seconds. An empty set of namespaces in the scope means all."""

    plan: PlanOptions
    scope: WatchScope
    pause_file: Path | None = None
    sync_period: float = 600.0
    workers: int = 4
    max_promotions: int = 10
    request_timeout: float = 30.0
    unknown_wait: float = _UNKNOWN
    reread: float = 60.0  # the interval of reading tokens and kubeconfigs again
    pauses: Pauses = field(default_factory=Pauses)


class Budget:
    """A limit of Promotions per minute, over all Stages."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._size = float(per_minute)
        self._left = self._size
        self._clock = clock
        self._at = clock()

        self._told = False

    def take(self) -> float:
        """Take a unit. Returns 0 if it was taken, else the seconds until the next one."""
        now = self._clock()
        self._left = min(self._left + (now - self._at) * self._size / 60, self._size)
        self._at = now
        if self._left < 1:
            return (1 - self._left) * 60 / self._size
        if self._left == self._size:
            self._told = False
        self._left -= 1
        return 0.0

    def is_news(self) -> bool:
        """Return True once when the budget is used up, until it has been full again."""
        told, self._told = self._told, True
        return not told


class Controller:
    """Follows Kargo and Argo CD, which may be in two clusters. Created inside the loop that runs it."""

    def __init__(
        self, kargo: Client, argocd: Client, options: ControllerOptions, metrics: Metrics, lease: Lease | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._options = options
        self._metrics = metrics
        self._lease = lease
        self._kargo = kargo
        self._clients = {id(client): client for client in (kargo, argocd)}.values()
        self.index = Index(options.scope)
        self.queue: WorkQueue[StageName] = WorkQueue(self._loop.time)
        instance = lease.holder if lease else "single"
        self._events = Recorder(kargo, self._loop.time, instance)
        elsewhere = self._events if argocd is kargo else Recorder(argocd, self._loop.time, instance)
        self._announcer = Announcer(self._events, elsewhere)
        self._budget = Budget(options.max_promotions, self._loop.time)
        self._started = self._loop.time()
        self._turned = self._started
        self._unknown: dict[StageName, float] = {}
        self._told: dict[StageName, tuple[str, str]] = {}
        self._writing: set[asyncio.Task[None]] = set()
        self.reflectors = [
            Reflector(argocd, APPLICATIONS, namespace, self._changed, options.pauses)
            for namespace in _each(options.scope.application_namespaces)
        ] + [
            Reflector(kargo, resource, namespace, self._changed, options.pauses)
            for resource in KARGO
            for namespace in _each(options.scope.namespaces)
        ]

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set.

        Raises:
            LeaseLostError: another replica has taken the lease, or it could not be renewed.
        """
        tasks = [asyncio.create_task(reflector.run()) for reflector in self.reflectors]
        tasks += [asyncio.create_task(self._work()) for _ in range(self._options.workers)]
        tasks += [asyncio.create_task(self._resync()), asyncio.create_task(self._tick())]
        tasks += [asyncio.create_task(client.keep_fresh(self._options.reread)) for client in self._clients]
        if self._lease is not None:
            tasks.append(asyncio.create_task(self._lead(self._lease)))
        else:
            self._metrics.leader.set(1)
        waiting = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in done - {waiting}:
                task.result()
        finally:
            for task in (waiting, *tasks):
                task.cancel()
            await asyncio.gather(waiting, *tasks, return_exceptions=True)
            self._metrics.leader.set(0)
            if self._lease is not None:
                with contextlib.suppress(asyncio.CancelledError):
                    await self._lease.release()

    @property
    def is_ready(self) -> bool:
        """True if all objects are known."""
        return all(reflector.health.synced for reflector in self.reflectors)

    @property
    def is_fresh(self) -> bool:
        """True if all objects are known and recent: a long outage of an API server makes it False."""
        now = self._loop.time()
        return self.is_ready and all(now - reflector.health.since < _STUCK for reflector in self.reflectors)

    @property
    def is_alive(self) -> bool:
        """True if the loop runs, and no reflector is silent for too long without a known cause."""
        now = self._loop.time()
        stuck = any(
            now - reflector.health.since > _STUCK and not reflector.health.problem for reflector in self.reflectors
        )
        return now - self._turned < 30 and not stuck

    def _changed(self, old: KargoObject | None, new: KargoObject | None) -> None:
        now = self._loop.time()
        concerned: Iterable[StageName] = self.index.change(old, new, now)
        if old is None and new is None:
            concerned = list(self.index)
        for name in concerned if self.is_ready else ():  # earlier changes are processed then, once
            self.queue.add(name)
        if isinstance(new, Application) and self._may_write():
            problems = annotation_problems(new)
            if problems and (not isinstance(old, Application) or annotation_problems(old) != problems):
                for problem in problems:
                    _LOG.warning("%s: %s", problem.reason, problem.message[:500])
                task = self._loop.create_task(self._announcer.annotated([new]))
                self._writing.add(task)
                task.add_done_callback(self._writing.discard)

    async def _tick(self) -> None:
        while True:
            self._turned = self._loop.time()
            self._metrics.queue_depth.set(len(self.queue))
            for reflector in self.reflectors:
                plural = reflector.resource.plural
                self._metrics.synced.labels(plural).set(reflector.health.synced)
                self._metrics.objects.labels(plural).set(len(reflector.objects))
                self._metrics.restarts.labels(plural).set(reflector.health.restarts)
            await asyncio.sleep(_TICK)

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self._options.sync_period * random.uniform(0.9, 1.1))  # noqa: S311
            for name in self.index:
                self.queue.add(name, random.uniform(0, self._options.sync_period / 10))  # noqa: S311

    async def _lead(self, lease: Lease) -> None:
        await lease.acquire()
        _LOG.info("this replica writes now (%s)", lease.holder)
        self._metrics.leader.set(1)
        for name in self.index:
            self.queue.add(name)
        try:
            await lease.hold()
        except LeaseLostError:
            self._metrics.leader.set(0)
            raise

    def _may_write(self) -> bool:
        return self._lease is None or self._lease.remaining() > 0

    def _remaining(self) -> float:
        return self._lease.remaining() if self._lease is not None else float("inf")

    async def _work(self) -> None:
        while True:
            name = await self.queue.get()
            failed = True
            try:
                with self._metrics.reconcile_seconds.time():
                    failed = await self._reconcile(name)
            except Exception:  # an error of one Stage must not stop the others
                _LOG.exception("deciding about %s failed", name)
            finally:
                self.queue.done(name, failed=failed)

    async def _reconcile(self, name: StageName) -> bool:
        """Process a Stage. Returns True to retry it with growing pauses."""
        if not self.is_ready:
            return False
        world = self.index.world(name, self._loop.time())
        if world is None:
            self._forget(name)
            return False
        decision = plan_stage(world, self._plan_options(), datetime.now(UTC))
        self._metrics.decided(decision, self._loop.time())
        self._log(decision)
        delay = decision.verdict.retry_after.total_seconds() if decision.verdict.retry_after is not None else None
        if decision.reason == "Settling" and delay is None:
            delay = 60.0  # it becomes a warning after a while
        outcome: CreationOutcome | None = None
        if self._may_write():
            if decision.kind == "promote":
                outcome = await self._promote(world, decision)
                delay = outcome.retry_after
            else:
                await self._announcer.decided(world, decision)
        if delay is not None:
            self.queue.add(name, delay)
        return outcome is not None and delay is None

    async def _promote(self, world: StageWorld, decision: Decision) -> CreationOutcome:
        name = world.name
        now = self._loop.time()
        settle = self._options.plan.settle.total_seconds()
        if (rest := self._started + settle - now) > 0:
            return CreationOutcome("changed", "the program has just started", retry_after=rest)
        if (rest := self._unknown.get(name, now) - now) > 0:
            return CreationOutcome("changed", "an answer was lost: the server may still carry it out", retry_after=rest)
        if (rest := self._budget.take()) > 0:
            await self._report_budget(world)
            return CreationOutcome("changed", "enough Promotions for now", retry_after=rest)
        creator = Creator(self._kargo, self._plan_options(), self._remaining, self._options.request_timeout)
        outcome = await creator.create(world, decision, datetime.now(UTC))
        await self._report(world, decision, outcome)
        if outcome.kind == "unknown":
            self._unknown[name] = self._loop.time() + self._options.unknown_wait
            return replace(outcome, retry_after=self._options.unknown_wait)
        self._unknown.pop(name, None)
        return outcome

    async def _report_budget(self, world: StageWorld) -> None:
        """Write an event on the first Stage that has to wait: there may be many, all for the same reason."""
        if self._budget.is_news() and world.stage is not None:
            message = (
                f"others may wait, too: --max-promotions allows {self._options.max_promotions} Promotions a minute"
            )
            _LOG.info("%s: PromotionsLimited: %s", world.name, message)
            subject = Subject.stage(world.stage.meta)
            await self._events.record(subject, "PromotionsLimited", message, warning=False, again=True)

    async def _report(self, world: StageWorld, decision: Decision, outcome: CreationOutcome) -> None:
        _LOG.log(logging.WARNING if outcome.failure else logging.INFO, "%s: %s", world.name, str(outcome)[:500])
        self._metrics.tried(world.name, outcome)
        await self._announcer.tried(world, decision, outcome)

    def _log(self, decision: Decision) -> None:
        """Log each change of a decision in one line."""
        if decision.kind == "promote" and not self._may_write():
            return  # the replica that holds the lease promotes, and logs it
        state = (decision.reason, decision.verdict.freight)
        if self._told.get(decision.stage) != state:
            self._told[decision.stage] = state
            _LOG.info(
                "%s: %s: %s",
                decision.stage,
                decision.reason,
                decision.message[:500],
                extra={
                    "stage": str(decision.stage),
                    "reason": decision.reason,
                    "freight": decision.verdict.freight,
                    "drift": [str(drift) for drift in decision.drift],
                },
            )

    def _forget(self, name: StageName) -> None:
        self._metrics.forget(name)
        self._events.forget(name.namespace, name.name)
        self._told.pop(name, None)
        self._unknown.pop(name, None)
        self.queue.forget(name)

    def _plan_options(self) -> PlanOptions:
        pause = self._options.pause_file
        return replace(self._options.plan, paused=pause is not None and pause.exists())


def _each(namespaces: Iterable[str]) -> Sequence[str | None]:
    """Return the namespaces to follow one by one; without names a single request for all."""
    return sorted(namespaces) or (None,)
