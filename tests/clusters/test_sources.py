"""The clusters of a fleet by the Lieutenant API: each thing asked for once, and what the API lacks fails alone."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.limits import Limits
from commodore.clusters import ApiFleet, ClusterSelection, Wave
from commodore.clusters.waves import Amount
from commodore.core.lieutenant import LieutenantClient
from tests.world import lieutenant
from tests.world.context import make_context
from tests.world.kubernetes import wait_until
from tests.world.lieutenant import LieutenantServer, failing, held
from tests.world.many_clusters import FleetWorld

TOKEN = "hush-hush"
QUICK = Limits(request_backoff=0.001)


@contextmanager
def asking(api: LieutenantServer) -> Iterator[ApiFleet]:
    """The clusters of an API."""
    with api, LieutenantClient(api.url, lambda: TOKEN, make_context(limits=QUICK)) as client:
        yield ApiFleet(client, {})


def api_of(world: FleetWorld) -> LieutenantServer:
    """An API that knows the clusters of the world, and one of another tenant."""
    own = [lieutenant.cluster(name, "t-one", gitRepo={"url": world.catalogs[name].url}) for name in world.names]
    others = [lieutenant.cluster("c-other", "t-two")]
    tenants = [world.world.tenant_object(), lieutenant.tenant("t-two")]
    return LieutenantServer([*own, *others], tenants, token=TOKEN)


@pytest.mark.requirement("FC1", "FC4", "FC13", "FC14")
def test_clusters_of_an_api(tmp_path: Path) -> None:
    """The chosen ones are asked for, each once, and their tenant once; one that the API does not give fails alone. Each
    push is reported. The token is written down nowhere.
    """
    world = FleetWorld(tmp_path, 3)
    api = api_of(world)
    api.script(failing(500), times=math.inf, path="/clusters/c-2")
    chosen = ClusterSelection(tenants=("t-one",))
    with asking(api) as source:
        report = world.run_with(source, Wave("one", max_failures=Amount(1)), selection=chosen)
    assert {cluster.id: cluster.state for cluster in report.clusters} == {
        "c-1": "pushed",
        "c-2": "failed",
        "c-3": "pushed",
    }
    [failed] = [cluster.error for cluster in report.clusters if cluster.error is not None]
    assert (failed.code.startswith("CMD-API-"), report.exit_code) == (True, EnvironmentFault.exit_code)
    asked = Counter(request.path for request in api.requests if request.method == "GET")
    del asked["/clusters/c-2"]  # is tried again
    assert asked == {"/clusters/": 1, "/clusters/c-1": 1, "/clusters/c-3": 1, "/tenants/t-one": 1}
    assert sorted(name for name, _ in api.reports) == ["c-1", "c-3"]
    written = [path for path in (tmp_path / "work").rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "journal.jsonl" for path in written)
    assert not any(TOKEN.encode() in path.read_bytes() for path in written)
    assert TOKEN not in repr(world.events)


@pytest.mark.requirement("FC13")
def test_without_its_api_nothing_is_begun(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 1)
    api = api_of(world)
    api.script(failing(503), times=math.inf)
    with asking(api) as source, pytest.raises(EnvironmentFault):
        world.run_with(source)
    assert not (tmp_path / "work" / "fleet" / "runs").exists()


@pytest.mark.requirement("FC4")
def test_an_api_is_asked_by_few_at_once(tmp_path: Path) -> None:
    """However many clusters are worked on. A tenant that could not be had is asked for again."""
    names = [f"c-{number}" for number in range(20)]
    api = LieutenantServer([lieutenant.cluster(name) for name in names], [lieutenant.tenant()], token=TOKEN)
    answer = threading.Event()
    for name in names:
        api.script(held(answer), path=f"/clusters/{name}")
    begun, result = threading.Barrier(len(names) + 1), []
    with asking(api) as source:

        def load(name: str) -> None:
            begun.wait()
            result.append(source.load(name, make_context()).id)

        threads = [threading.Thread(target=load, args=[name]) for name in names]
        for thread in threads:
            thread.start()
        begun.wait()
        wait_until(lambda: len(api.requests) >= 8)
        for _ in range(20):  # others could ask meanwhile, too
            source.list(make_context())
        at_once = sum(request.path.startswith("/clusters/c-") for request in api.requests)
        answer.set()
        for thread in threads:
            thread.join()
    assert sorted(result) == sorted(names)
    assert at_once == 8

    api = LieutenantServer([lieutenant.cluster()], [lieutenant.tenant()], token=TOKEN)
    api.script(failing(404), path="/tenants/t-one")
    with asking(api) as source:
        with pytest.raises(InputError):
            source.load("c-one", make_context())
        assert source.load("c-one", make_context()).tenant.id == "t-one"
