"""`observe run`, `observe once` and plans of a cluster: the setup around controller and planner."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.core.serving import Reply, Routes, probe, serving
from commodore.observe.cases import PlanOptions
from commodore.observe.cluster.announcing import Announcer
from commodore.observe.cluster.client import (
    APPLICATIONS,
    KARGO,
    LEASES,
    ApiError,
    Client,
    ClusterAccess,
    Object,
    as_fault,
)
from commodore.observe.cluster.controller import Controller, ControllerOptions
from commodore.observe.cluster.creator import CreationOutcome, Creator
from commodore.observe.cluster.events import Recorder
from commodore.observe.cluster.index import settled
from commodore.observe.cluster.lease import Lease, LeaseLostError, LeaseTimes
from commodore.observe.cluster.metrics import Metrics
from commodore.observe.kargo import Application, KargoObject, Promotion, UnreadableError, read_object
from commodore.observe.planning import Decision, plan_stage
from commodore.observe.promotion import is_ours, made_at
from commodore.observe.worlds import StageWorld, WatchScope, build_worlds

_LOG = logging.getLogger(__name__)
_SCHEMAS = "/openapi/v3/apis/kargo.akuity.io/v1alpha1"
_OBSERVED = ("observedFreight", "observedImages")


@dataclass(frozen=True, slots=True)
class Clusters:
    """The clusters of Kargo and of Argo CD's Applications; None: the same cluster."""

    kargo: ClusterAccess
    argocd: ClusterAccess | None = None


@dataclass(frozen=True, slots=True)
class LeaseOptions:
    """The lease to hold. The default namespace is that of the Pod or of the context."""

    name: str = "commodore-observe"
    namespace: str | None = None
    times: LeaseTimes = field(default_factory=LeaseTimes)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `run` in addition to the controller's. An empty address serves nothing; no lease means no election."""

    controller: ControllerOptions
    holds: bool | None
    metrics_address: str
    health_address: str
    lease: LeaseOptions | None


@contextlib.asynccontextmanager
async def connected(clusters: Clusters, metrics: Metrics | None = None) -> AsyncIterator[tuple[Client, Client]]:
    """Clients of Kargo's and of Argo CD's server; the same client for a single cluster."""
    count = metrics.count_request if metrics else None
    kargo = Client(clusters.kargo, count)
    argocd = Client(clusters.argocd, count) if clusters.argocd else kargo
    try:
        yield kargo, argocd
    finally:
        await kargo.aclose()
        if argocd is not kargo:
            await argocd.aclose()


async def read_cluster(kargo: Client, argocd: Client, scope: WatchScope) -> list[KargoObject]:
    """Read all objects for a plan; unreadable ones are left out and logged.

    Raises:
        EnvironmentFault: CMD-OBS-011 to 013, the server does not return them.
    """
    objects: list[KargoObject] = []
    for client, resources, namespaces in (
        (argocd, (APPLICATIONS,), scope.application_namespaces),
        (kargo, KARGO, scope.namespaces),
    ):
        for resource in resources:
            for namespace in sorted(namespaces) or (None,):
                try:
                    bodies, _ = await client.list_all(resource, namespace)
                except ApiError as error:
                    raise as_fault(error, "list", resource, client.server) from error
                objects += _read(bodies)
    return objects


def _read(bodies: Iterable[Object]) -> list[KargoObject]:
    objects = []
    for body in bodies:
        try:
            read = read_object(body)
        except UnreadableError as error:
            _LOG.warning("%s cannot be read: %s", body.get("kind"), str(error)[:500])
            continue
        if read is not None:
            objects.append(read[0])
    return objects


async def knows_holds(kargo: Client) -> bool:
    """Check by the served schemas if this Kargo holds automatic promotion after a Promotion by a user."""
    try:
        document = await kargo.document(_SCHEMAS)
    except ApiError as error:
        _LOG.info("the schemas of Kargo cannot be read: %s", error.message[:200])
        return False
    fields = _stage_status(document)
    if any(name in fields for name in _OBSERVED):
        _LOG.warning("this Kargo keeps an observed state itself: commodore observe may not be needed any more")
    return "autoPromotionHolds" in fields


def _stage_status(document: Object) -> Mapping[str, Any]:
    schemas = (document.get("components") or {}).get("schemas") or {}
    for name, schema in schemas.items():
        if name.endswith(".Stage"):
            status = ((schema.get("properties") or {}).get("status") or {}).get("properties")
            return status if isinstance(status, dict) else {}
    return {}


async def cluster_worlds(clusters: Clusters, scope: WatchScope, holds: bool | None) -> list[StageWorld]:
    """Return the current worlds of a cluster's Stages. Nothing is written.

    Raises:
        EnvironmentFault: the cluster cannot be read.
    """
    async with connected(clusters) as (kargo, argocd):
        objects = await read_cluster(kargo, argocd, scope)
        holds = await knows_holds(kargo) if holds is None else holds
        return build_worlds(objects, scope, holds=holds)


async def try_out(clusters: Clusters, decisions: Iterable[Decision], timeout: float) -> dict[str, str]:
    """Validate the Promotions of decisions on the server. Returns the reason of a refusal by Stage, empty if
    accepted.
    """
    async with connected(clusters) as (kargo, _):
        creator = Creator(kargo, PlanOptions(), lambda: float("inf"), timeout)
        return {
            str(decision.stage): await creator.try_out(decision.verdict.promotion)
            for decision in decisions
            if decision.verdict.promotion is not None
        }


async def observe_once(
    clusters: Clusters,
    options: ControllerOptions,
    holds: bool | None,
    lease: LeaseOptions | None,
    on_wait: Callable[[int], None],
) -> list[tuple[Decision, CreationOutcome | None]]:
    """Decide about all Stages once; create Promotions if images stay the same for the settling time; record events.

    Args:
        on_wait: called before the wait for images to settle, with the number of waiting Stages.

    Raises:
        EnvironmentFault: the cluster cannot be read.
        PolicyError: CMD-OBS-020, another observer holds the lease.
    """
    async with connected(clusters) as (kargo, argocd), _holding(kargo, lease) as remaining:
        holds = await knows_holds(kargo) if holds is None else holds
        now = datetime.now(UTC)
        objects = await read_cluster(kargo, argocd, options.scope)
        worlds = build_worlds(objects, options.scope, holds=holds)
        due = sum(plan_stage(world, options.plan, now).kind == "promote" for world in worlds)
        if due:
            on_wait(due)
            await asyncio.sleep(options.plan.settle.total_seconds())
            now = datetime.now(UTC)
            before, objects = objects, await read_cluster(kargo, argocd, options.scope)
            worlds = [_aged(world, before, options) for world in build_worlds(objects, options.scope, holds=holds)]
        creator = Creator(kargo, options.plan, remaining, options.request_timeout)
        announcer = _announcer(kargo, argocd, now)
        await announcer.annotated(
            item for item in objects if isinstance(item, Application) and options.scope.takes(item)
        )
        done: list[tuple[Decision, CreationOutcome | None]] = []
        left = options.max_promotions - _made_just_now(objects, options.plan.label_prefix, now)
        for world in worlds:
            decision = plan_stage(world, options.plan, now)
            outcome = None
            if decision.kind != "promote":
                await announcer.decided(world, decision)
            elif left > 0:
                outcome = await creator.create(world, decision, now)
                await announcer.tried(world, decision, outcome)
                left -= 1
            else:
                allowed = f"--max-promotions allows {options.max_promotions} Promotions a minute"
                outcome = CreationOutcome("left", f"for the next pass: {allowed}")
            done.append((decision, outcome))
        return done


def _announcer(kargo: Client, argocd: Client, now: datetime) -> Announcer:
    """Return an announcer for a pass: the same state is recorded once an hour, by any pass."""
    holder, clock, hour = _holder(), asyncio.get_running_loop().time, now.strftime("%Y-%m-%dT%H")
    stages = Recorder(kargo, clock, holder, hour)
    return Announcer(stages, stages if argocd is kargo else Recorder(argocd, clock, holder, hour))


def _made_just_now(objects: Iterable[KargoObject], label_prefix: str, now: datetime) -> int:
    """Return the number of Promotions created within a minute, so that the limit also holds for several passes."""
    ours = (item for item in objects if isinstance(item, Promotion) and is_ours(item, label_prefix))
    return sum(made_at(promotion) > now - timedelta(minutes=1) for promotion in ours)


def _aged(world: StageWorld, before: Iterable[KargoObject], options: ControllerOptions) -> StageWorld:
    earlier = [item for item in before if isinstance(item, Application)]
    applications = settled(
        earlier, [observation.application for observation in world.applications], options.plan.settle
    )
    return replace(world, applications=tuple(applications))


@contextlib.asynccontextmanager
async def _holding(kargo: Client, options: LeaseOptions | None) -> AsyncIterator[Any]:
    """Hold the lease while the block runs, so that no other observer promotes; yields the function of its remaining
    time.
    """
    if options is None:
        yield lambda: float("inf")
        return
    lease = _lease(kargo, options)
    try:
        async with asyncio.timeout(options.times.duration + 2 * options.times.retry):
            await lease.acquire(patient=False)
    except ApiError as error:
        raise as_fault(error, "write", LEASES, kargo.server) from error
    except (LeaseLostError, TimeoutError) as error:
        raise PolicyError(
            "CMD-OBS-020",
            f"another observer holds the lease {options.namespace or kargo.namespace}/{options.name}",
            hint="it does what this command would do; --no-leader-elect works without the lease",
        ) from error
    holding = asyncio.create_task(lease.hold())
    try:
        yield lease.remaining
    finally:
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        await lease.release()


def _lease(kargo: Client, options: LeaseOptions) -> Lease:
    return Lease(kargo, options.namespace or kargo.namespace, options.name, _holder(), options.times)


def _holder() -> str:
    return os.environ.get("POD_NAME") or socket.gethostname()


async def observe_run(clusters: Clusters, options: RunOptions) -> None:
    """Run until SIGTERM or SIGINT.

    Raises:
        EnvironmentFault: CMD-OBS-021, the lease was lost; CMD-SERVE-002, listening on an address failed.
    """
    metrics = Metrics()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with connected(clusters, metrics) as (kargo, argocd):
        lease = _lease(kargo, options.lease) if options.lease else None
        controller = Controller(kargo, argocd, options.controller, metrics, lease)
        try:
            with _served(options, metrics, controller):
                controller.index.holds = await knows_holds(kargo) if options.holds is None else options.holds
                await controller.run(stop)
        except LeaseLostError as error:
            raise EnvironmentFault(
                "CMD-OBS-021", str(error), hint="another replica goes on; this one has to be started again"
            ) from error
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


@contextlib.contextmanager
def _served(options: RunOptions, metrics: Metrics, controller: Controller) -> Iterator[None]:
    """Serve probes and metrics while the block runs, on one port if the addresses are equal."""
    shown: dict[str, dict[str, Callable[[], Reply]]] = {}
    if options.metrics_address:
        shown.setdefault(options.metrics_address, {})["/metrics"] = lambda: Reply.metrics(metrics.text())
    if options.health_address:
        probes = shown.setdefault(options.health_address, {})
        probes["/healthz"] = lambda: probe(controller.is_alive)
        probes["/readyz"] = lambda: probe(controller.is_fresh)
    with contextlib.ExitStack() as servers:
        for address, pages in shown.items():
            servers.enter_context(serving(address, Routes(pages)))
        yield
