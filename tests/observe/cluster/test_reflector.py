"""The copy of one kind of objects: what it hears, and what it does about tokens that change."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from commodore.observe.cluster.client import STAGES, Client, ClusterAccess
from commodore.observe.cluster.reflector import Pauses, Reflector
from commodore.observe.kargo import KargoObject
from tests.world.kargo import drifted, stage
from tests.world.kubernetes import Running, kubeconfig_for

SHORT = Pauses(first=0.02, longest=0.1, forbidden=0.1, absent=0.1, watch=(1, 1))

Changes = list[tuple[str, str]]


def follow(kubeconfig: Path, until: Callable[[Reflector, Client, Changes], Awaitable[None]]) -> Changes:
    """Follow the Stages until something is true; returns what changed."""
    changes: Changes = []

    def changed(old: KargoObject | None, new: KargoObject | None) -> None:
        changes.append((old.meta.name if old else "", new.meta.name if new else ""))

    async def run() -> None:
        client = Client(ClusterAccess(kubeconfig))
        reflector = Reflector(client, STAGES, None, changed, SHORT)
        task = asyncio.create_task(reflector.run())
        try:
            async with asyncio.timeout(60):
                await until(reflector, client, changes)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await client.aclose()

    asyncio.run(run())
    return changes


async def becomes(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def test_what_changes_is_told_and_then_that_all_is_known(cluster: Running) -> None:
    cluster.api.put(*drifted())

    async def until(reflector: Reflector, _client: Client, changes: Changes) -> None:
        await becomes(lambda: reflector.health.synced)
        assert changes == [("", "prod"), ("", "")]
        cluster.api.put(stage("test"))
        await becomes(lambda: len(changes) == 3)
        cluster.api.delete("stages", "shop", "prod")
        await becomes(lambda: len(changes) == 4)

    assert follow(cluster.kubeconfig, until)[2:] == [("", "test"), ("prod", "")]


def test_a_kind_in_which_nothing_changes_is_not_stuck(cluster: Running) -> None:
    """A watch that ends in its time without a word has been heard."""
    cluster.api.put(*drifted())

    async def until(reflector: Reflector, _client: Client, _changes: Changes) -> None:
        await becomes(lambda: reflector.health.synced)
        first = reflector.health.since
        await becomes(lambda: reflector.health.since > first)

    assert follow(cluster.kubeconfig, until) == [("", "prod"), ("", "")]
    assert cluster.api.requests["list", "stages"] == 1


def test_a_token_that_was_changed_is_read_again(cluster: Running, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    server = f"http://127.0.0.1:{cluster.port}"
    file.write_text(json.dumps(kubeconfig_for(server, "old")), encoding="utf-8")
    fault = cluster.api.fail("list", "stages", code=401, times=1000)

    async def until(reflector: Reflector, client: Client, _changes: Changes) -> None:
        before = client._http
        await becomes(lambda: reflector.health.problem)
        assert client._http is before  # nothing has changed, so nothing is opened
        file.write_text("{", encoding="utf-8")
        restarts = reflector.health.restarts
        await becomes(lambda: reflector.health.restarts > restarts + 1)
        file.write_text(json.dumps(kubeconfig_for(server, "new")), encoding="utf-8")
        await becomes(lambda: client._http is not before)
        fault.times = 0
        await becomes(lambda: reflector.health.synced)
        assert not reflector.health.problem

    follow(file, until)
