"""The lease: taken when it is free or has not been renewed, by the own clock alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from commodore.observe.cluster.client import Client, ClusterAccess
from commodore.observe.cluster.lease import Lease, LeaseLostError, LeaseTimes
from tests.world.kubernetes import Running

Result = TypeVar("Result")

SHORT = LeaseTimes(duration=0.5, renew=0.3, retry=0.02)
LONG = LeaseTimes(duration=600, renew=500, retry=0.02)


def with_client(cluster: Running, work: Callable[[Client], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        client = Client(ClusterAccess(cluster.kubeconfig))
        try:
            return await work(client)
        finally:
            await client.aclose()

    return asyncio.run(run())


def lease(client: Client, holder: str, times: LeaseTimes = SHORT) -> Lease:
    return Lease(client, "observer", "it", holder, times)


def test_a_new_lease(cluster: Running) -> None:
    async def work(client: Client) -> None:
        mine = lease(client, "a")
        assert mine.remaining() == 0
        await mine.acquire()
        assert 0 < mine.remaining() <= 0.5

    with_client(cluster, work)
    (made,) = cluster.api.all("leases")
    assert set(made["spec"]) == {
        *("holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions")
    }
    assert made["spec"]["holderIdentity"].startswith("a_")


@pytest.mark.requirement("O37")
@pytest.mark.parametrize("clock", ["1999-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"])
def test_what_another_clock_says_does_not_count(cluster: Running, clock: str) -> None:
    """A holder whose clock is wrong keeps the lease while it renews, and loses it when it does not."""

    async def held(client: Client) -> None:
        await lease(client, "a").acquire()

    with_client(cluster, held)
    (made,) = cluster.api.all("leases")
    made["spec"]["renewTime"] = clock
    cluster.api.put(made)

    async def patient(client: Client) -> bool:
        return await lease(client, "b", LONG)._attempt()

    async def eager(client: Client) -> float:
        other = lease(client, "b")
        await other.acquire()
        return other.remaining()

    assert with_client(cluster, patient) is False
    assert with_client(cluster, eager) > 0
    (made,) = cluster.api.all("leases")
    assert made["spec"]["leaseTransitions"] == 1


def test_a_lease_that_was_left_is_taken_at_once(cluster: Running) -> None:
    async def work(client: Client) -> bool:
        first = lease(client, "a", LONG)
        await first.acquire()
        assert await lease(client, "b", LONG)._attempt() is False
        await first.release()
        assert first.remaining() == 0
        return await lease(client, "b", LONG)._attempt()

    assert with_client(cluster, work) is True


def test_a_conflict_is_no_lease(cluster: Running) -> None:
    """Two replicas update the same version: one is refused."""

    async def work(client: Client) -> bool:
        first = lease(client, "a")
        await first.acquire()
        await first.release()
        cluster.api.fail("update", "leases", code=409)
        return await lease(client, "b")._attempt()

    assert with_client(cluster, work) is False


def test_a_lease_that_cannot_be_renewed_is_lost_in_time(cluster: Running) -> None:
    async def work(client: Client) -> None:
        mine = lease(client, "a")
        await mine.acquire()
        cluster.api.fail("get", "leases", code=503, times=1000)
        await mine.hold()

    with pytest.raises(LeaseLostError):
        with_client(cluster, work)
