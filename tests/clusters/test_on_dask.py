"""Clusters on the workers of a real Dask scheduler, all of them processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, UsageError
from commodore.base.events import Noted, Warned
from commodore.base.limits import Limits
from commodore.clusters import DaskOptions, FleetReport, Wave
from commodore.clusters.sources import FileFleet
from commodore.core.lieutenant import read_cluster_file
from tests.world import many_clusters
from tests.world.cluster import ROOT
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.many_clusters import FleetWorld
from tests.world.object_store import TcpProxy

distributed = pytest.importorskip("distributed")


class Dask:
    """A scheduler and workers, each a process of its own. One death of a worker is too many for a task if `strict`."""

    def __init__(self, folder: Path, workers: int, *, strict: bool = False) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._processes = contextlib.ExitStack()
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        failures = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"} if strict else {}
        self.scheduler = self._start("scheduler", *words, **failures)
        self.workers = [self.add_worker() for _ in range(workers)]

    def add_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker."""
        words = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self._folder))
        return self._start("worker", *words, **environment)

    def _start(self, kind: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(self._file), *arguments]
        process = subprocess.Popen(
            words,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.callback(process.wait)
        self._processes.callback(process.kill)
        return process

    def address(self, workers: int) -> str:
        """The address of the scheduler, once it has so many workers."""
        with distributed.Client(scheduler_file=str(self._file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)
            return str(client.scheduler.address)

    def close(self) -> None:
        self._processes.close()


class Refusing(FileFleet):
    """Clusters of an API that takes no reports."""

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        raise EnvironmentFault("CMD-API-001", f"the API does not take the report of {cluster}")


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def killing(dask: Dask) -> str:
    """A hook that kills the worker from which git was started."""
    pids = " ".join(str(worker.pid) for worker in dask.workers)
    return (
        'p=$$; while [ "$p" -gt 1 ]; do p=$(cut -d" " -f4 /proc/$p/stat); '
        f'for w in {pids}; do [ "$p" = "$w" ] && kill -9 "$p" && exit 1; done; done'
    )


@pytest.mark.requirement("FC2", "FC5", "FC13", "FC14")
def test_clusters_on_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The catalogs are those of single compiles, also if a worker is killed between its push and its answer. Without
    its scheduler a run ends, and can go on without Dask.
    """
    world = FleetWorld(tmp_path, 3)
    with contextlib.closing(Dask(tmp_path, 2)) as dask:
        world.catalogs["c-2"].hook("post-receive", f'rm -f "$0"; {killing(dask)}')
        content = read_cluster_file(world.cluster_file(), make_context())
        report = world.run_with(Refusing([content], {}), dask=DaskOptions(dask.address(2)))
        assert [cluster.error for cluster in report.clusters] == [None] * 3
        assert {event.code for event in world.events if isinstance(event, Warned)} == {"CMD-FLT-123"}
        assert {cluster.id: cluster.state for cluster in report.clusters} == dict.fromkeys(world.names, "pushed")
        assert [world.commits(name) for name in world.names] == [1, 1, 1]
        assert sum(worker.poll() is not None for worker in dask.workers) == 1
        assert world.files("c-2") == world.single("c-2")

        def kill(wave: Wave, report: FleetReport) -> bool:
            del wave, report
            end(dask.scheduler)
            return True

        world.change({"value": "2"})
        monkeypatch.setattr(many_clusters, "LIMITS", Limits(fleet_pauses=(0.0,), dask_wait=5.0))
        with pytest.raises(CommodoreError) as error:
            world.run(dask=DaskOptions(dask.address(1)), ask=kill)
    assert error.value.code == "CMD-FLT-106"
    assert [world.commits(name) for name in world.names] == [1, 1, 1]
    assert "Traceback" not in capfd.readouterr().err
    report = world.run(resume="")
    assert [cluster.error for cluster in report.clusters] == [None] * 3
    assert {cluster.id: cluster.state for cluster in report.clusters} == dict.fromkeys(world.names, "pushed")
    assert [world.commits(name) for name in world.names] == [2, 2, 2]


@pytest.mark.requirement("FC5", "FC8", "FC14")
def test_workers_that_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers with other tools are not used; one that comes later is; a cluster that ends its workers fails. No
    credentials travel to them.
    """
    world = FleetWorld(tmp_path, 1)
    helm = tmp_path / "helm"
    write_script(helm, "echo v1.2.3")
    with contextlib.closing(Dask(tmp_path, 1, strict=True)) as dask:
        dask.add_worker(KAPITAN_HELM_PATH=str(helm))

        def exchange(wave: Wave, report: FleetReport) -> bool:
            del wave, report
            end(dask.workers[0])
            dask.workers.append(dask.add_worker())
            return True

        report = world.run(dask=DaskOptions(dask.address(2)), ask=exchange)
        assert [(cluster.state, cluster.error) for cluster in report.clusters] == [("pushed", None)]
        [warning] = [event for event in world.events if isinstance(event, Warned)]
        assert warning.code == "CMD-FLT-108"
        assert "has helm v1.2.3" in warning.message

        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
        secret = world.cluster_file().read_text().replace(world.catalogs["c-1"].url, "http://me:hush-hush@127.0.0.1:1/")
        (tmp_path / "secret.json").write_text(secret)
        source, sent = FileFleet([read_cluster_file(tmp_path / "secret.json", make_context())], {}), bytearray()
        with TcpProxy(int(dask.address(2).rpartition(":")[2])) as proxy:
            proxy.asked = sent.extend
            report = world.run_with(source, dask=DaskOptions(proxy.site.replace("http", "tcp")))
        assert [cluster.state for cluster in report.clusters] == ["failed"]
        assert (b"Cluster c-1" in sent, b"hush" in sent) == (True, False)

        world.change({"value": "2"})
        world.catalogs["c-1"].hook("pre-receive", killing(dask))
        report = world.run(dask=DaskOptions(dask.address(2)))
        [failure] = [cluster.error for cluster in report.clusters]
        assert failure is not None
        assert (failure.code, report.exit_code) == ("CMD-FLT-107", 3)
        assert world.commits("c-1") == 1


@pytest.mark.requirement("FC13")
def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = FleetWorld(tmp_path, 1)
    monkeypatch.setattr(many_clusters, "LIMITS", Limits(dask_connect=1.0))
    with pytest.raises(CommodoreError) as error:
        world.run(dask=DaskOptions("tcp://127.0.0.1:1"))
    assert (error.value.code, error.value.exit_code) == ("CMD-FLT-106", 3)
    assert Noted("waiting for tcp://127.0.0.1:1, at most 1 s") in world.events
    with pytest.raises(CommodoreError) as error:
        world.run(dask=DaskOptions("tcp://dask.example.com:8786"))
    assert (error.value.code, error.value.exit_code) == ("CMD-FLT-105", 4)
    DaskOptions("tcp://dask.example.com:8786", insecure=True).check()
    DaskOptions("tls://dask.example.com:8786").check()


@pytest.mark.requirement("FC13")
@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1", "tcp://127.0.0.1:abc", "127.0.0.1:8786", "ucx://127.0.0.1:1", "tls://"]
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(UsageError, match=f"{address} is not the address of a scheduler") as error:
        DaskOptions(address, insecure=True).check()
    assert error.value.code == "CMD-FLT-127"


@pytest.mark.requirement("FC13")
def test_a_tls_address_needs_certificates(tmp_path: Path) -> None:
    """Dask itself ends with a TypeError, and does not end its client."""
    world = FleetWorld(tmp_path, 1)
    with pytest.raises(EnvironmentFault, match="has no TLS certificates") as error:
        world.run(dask=DaskOptions("tls://127.0.0.1:1"))
    assert error.value.code == "CMD-FLT-106"
    assert "DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in str(error.value.hint)


@pytest.mark.requirement("FC5")
def test_dask_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it clusters are compiled here."""
    world = FleetWorld(tmp_path, 1)
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "commodore.clusters.on_dask", raising=False)
    with pytest.raises(CommodoreError) as error:
        world.run(dask=DaskOptions())
    assert (error.value.code, error.value.hint) == ("CMD-FLT-104", "pip install 'commodore-catalog[dask]'")
    assert [cluster.state for cluster in world.run().clusters] == ["pushed"]


@pytest.mark.requirement("FC5")
def test_workers_of_this_machine(tmp_path: Path) -> None:
    """The program starts them, and ends them with itself."""
    world = FleetWorld(tmp_path, 2)
    running = world.start("--push", "--engine", "dask", "--workers", "1", "-o", "json")
    done = running.finish()
    assert done.code == 0, done.stderr
    assert [load["state"] for load in json.loads(done.stdout)["clusters"]] == ["pushed", "pushed"]
    assert running.orphans() == []


@pytest.mark.requirement("FC13", "FC14")
def test_a_worker_that_fails_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker does what this one cannot do. After three failures in a row it gets no more if there is another. A
    question that Dask itself cancels, as it may on a busy machine, is asked again. An answer is fetched when it is
    there, and not by many short attempts, of which none may be long enough.
    """
    asked, ask, results = iter([True]), distributed.Future.result, set()

    def result(future: Any, timeout: float | None = None) -> Any:
        results.add((future.status, timeout))
        if next(asked, False):
            raise UnboundLocalError  # as `distributed.utils.sync` does then
        return ask(future, timeout)

    monkeypatch.setattr(distributed.Future, "result", result)
    world = FleetWorld(tmp_path, 2)
    full = tmp_path / "full"
    full.mkdir()
    write_script(full / "git", "echo 'fatal: unable to write file: No space left on device' >&2\nexit 128")
    path = f"{full}:{os.environ['PATH']}"
    with contextlib.closing(Dask(tmp_path, 1)) as dask:
        dask.add_worker(PATH=path)
        report = world.run(dask=DaskOptions(dask.address(2)), retries=1)
        assert [(cluster.state, cluster.error) for cluster in report.clusters] == [("pushed", None)] * 2
        assert [world.commits(name) for name in world.names] == [1, 1]

        dask.add_worker(PATH=path)
        dask.address(3)
        end(dask.workers[0])
        world.events.clear()
        report = world.run(dask=DaskOptions(dask.address(2)), retries=2)
    assert [(cluster.state, cluster.attempts, cluster.exit_code) for cluster in report.clusters] == [
        ("failed", 3, 3)
    ] * 2
    [warning] = [event for event in world.events if isinstance(event, Warned)]
    assert warning.code == "CMD-FLT-125"
    assert "3 in a row failed on it" in warning.message
    assert results == {("finished", many_clusters.LIMITS.dask_wait)}
