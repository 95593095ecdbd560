"""Controllers against an API server on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commodore.observe import PlanOptions, WatchScope
from commodore.observe.cluster.client import Client, ClusterAccess
from commodore.observe.cluster.controller import Controller, ControllerOptions
from commodore.observe.cluster.lease import Lease, LeaseTimes
from commodore.observe.cluster.metrics import Metrics
from commodore.observe.cluster.reflector import Pauses
from commodore.observe.cluster.running import Clusters, connected
from tests.world.kubernetes import Running, serving, wait_until

QUICK = Pauses(first=0.02, longest=0.1, forbidden=0.2, absent=0.1, watch=(5, 9))
TIMES = LeaseTimes(duration=6.0, renew=4.0, retry=0.1)
OPTIONS = ControllerOptions(
    plan=PlanOptions(settle=timedelta()), scope=WatchScope(), pauses=QUICK, unknown_wait=0.2, request_timeout=5.0
)


class Replica:
    """One controller in a thread with a loop of its own."""

    def __init__(
        self, kubeconfigs: tuple[Path, Path], options: ControllerOptions, times: LeaseTimes | None, holds: bool
    ) -> None:
        self.metrics = Metrics()
        self.error: BaseException | None = None
        self.controller: Controller | None = None
        self._kubeconfigs = kubeconfigs
        self._options = options
        self._times = times
        self._holds = holds
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._task = self._loop.create_task(self._main())
            self._loop.run_until_complete(self._task)
        except BaseException as error:
            self.error = error
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _main(self) -> None:
        kargo, argocd = (
            ClusterAccess(kubeconfig, timeout=self._options.request_timeout) for kubeconfig in self._kubeconfigs
        )
        clusters = Clusters(kargo, argocd if argocd != kargo else None)
        async with connected(clusters, self.metrics) as (client, other):
            await self._follow(client, other)

    async def _follow(self, client: Client, other: Client) -> None:
        lease = Lease(client, "observer", "commodore-observe", "replica", self._times) if self._times else None
        self.controller = Controller(client, other, self._options, self.metrics, lease)
        self.controller.index.holds = self._holds
        await self.controller.run(self._stop)

    def stop(self) -> None:
        """End it as SIGTERM does."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)
        assert not self._thread.is_alive()

    def value(self, name: str, **labels: str) -> float | None:
        """A metric's value."""
        return self.metrics.registry.get_sample_value(f"kargo_observer_{name}", labels)

    def reason(self, stage: str = "prod") -> str:
        """The reason of the newest decision about a Stage."""
        for metric in self.metrics.registry.collect():
            if metric.name == "kargo_observer_stage_state":
                for sample in metric.samples:
                    if sample.labels["stage"] == stage:
                        return str(sample.labels["reason"])
        return ""

    def reaches(self, reason: str, stage: str = "prod") -> None:
        wait_until(lambda: self.reason(stage) == reason)


Start = Callable[..., Replica]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Running]:
    """An API server on loopback."""
    with serving(tmp_path) as running:
        yield running


@pytest.fixture
def start(cluster: Running) -> Iterator[Start]:
    """Start controllers; keywords change their options and those of their plans. `times` makes them elect a leader."""
    with ExitStack() as stack:

        def started(
            *, times: LeaseTimes | None = None, holds: bool = False, argocd: Path | None = None, **options: Any
        ) -> Replica:
            plan = {key: options.pop(key) for key in list(options) if hasattr(PlanOptions(), key)}
            chosen = replace(OPTIONS, plan=replace(OPTIONS.plan, **plan), **options)
            replica = Replica((cluster.kubeconfig, argocd or cluster.kubeconfig), chosen, times, holds)
            stack.callback(replica.stop)
            return replica

        yield started
