"""Results that machines share by a remote store: the same files, whatever the store has or does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from commodore.base.events import Event, Noted, Warned
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.engine import Engine
from commodore.core.engine.cache.keys import KINDS, SOURCE
from commodore.core.engine.cache.trace import usable
from commodore.core.engine.remote_results import RemoteCache, RemoteResults, RequestedResult, ResultWriter
from commodore.core.results.remote_store import (
    ReadAccess,
    RemoteOptions,
    RemoteStore,
    Signer,
    Trust,
    new_key,
    read_signer,
)
from commodore.core.results.result_store import Result, ResultStore
from commodore.core.sources.fetching import DependencyCache
from tests.core.engine.world import World, jsonnet
from tests.core.results.remote_store.conftest import Bucket
from tests.core.results.remote_store.conftest import bucket as bucket
from tests.core.results.remote_store.conftest import object_server as object_server
from tests.world.context import make_context

PLAIN = "{ hello: { colour: (import 'lib/kapitan.libjsonnet').inventory().parameters.app.colour } }"
OF_CLUSTER = "{ url: { url: (import 'lib/kapitan.libjsonnet').inventory().parameters.cluster.catalog_url } }"
OF_CHART = "{ %s: { chart: (import 'lib/kapitan.libjsonnet').file_read('app/chart/Chart.yaml') } }"
HELM = """
echo "$@" >> "$(dirname "$0")/pulls"
while [ $# -gt 1 ]; do
  case $1 in --destination) to=$2;; esac
  shift
done
mkdir -p "$to/$1" && echo "name: $1" > "$to/$1/Chart.yaml"
"""
FILTER = "{ made: { colour: (import 'lib/commodore.libjsonnet').inventory().parameters.cluster_app.colour } }"
QUICK = replace(DEFAULT_LIMITS, remote_connect_seconds=0.5, remote_object_seconds=0.5, remote_failures=2)


@dataclass
class Machine:
    """A cache of its own, and an engine."""

    world: World
    events: list[Event]

    def warnings(self) -> list[str]:
        return [event.code for event in self.events if isinstance(event, Warned)]


@dataclass
class Team:
    """Machines that share a bucket."""

    root: Path
    bucket: Bucket
    key: Path
    trust: Path
    events: list[Event] = field(default_factory=list)

    @property
    def signer(self) -> Signer:
        return read_signer(self.key)

    @contextmanager
    def machine(
        self, name: str, *, write: bool = False, limits: Limits = DEFAULT_LIMITS, exclude: frozenset[str] = frozenset()
    ) -> Iterator[Machine]:
        options = RemoteOptions((self.bucket.url,), write, self.key, self.trust, exclude=exclude)
        cache, fetched = self.root / name / "cache", self.root / name / "fetched"
        cache.mkdir(parents=True)  # so that no worker starts before it is needed
        events: list[Event] = []
        remote = RemoteCache(options, ResultStore(cache, limits), DependencyCache(fetched, limits))
        context = make_context(events.append, limits)
        with Engine(context, processes=1, dependency_cache=fetched, result_cache=cache, remote=remote) as engine:
            world = World(self.root / name, engine, events)
            facts = {"name": name, "tenant": "t", "catalog_url": f"https://git.example.com/{name}"}
            world.add("app", jsonnet("app/main.jsonnet"), cluster=facts, app={"colour": "red"})
            world.write("dependencies/app/main.jsonnet", PLAIN)
            filters = [{"type": "jsonnet", "path": "", "filter": "postprocess/f.jsonnet", "enabled": True}]
            world.add(
                "cluster-app",
                jsonnet("cluster-app/main.jsonnet"),
                cluster=facts,
                cluster_app={"colour": "blue"},
                commodore={"postprocess": {"filters": filters}},
            )
            world.write("dependencies/cluster-app/main.jsonnet", OF_CLUSTER)
            world.write("dependencies/cluster-app/postprocess/f.jsonnet", FILTER)
            yield Machine(world, events)


@pytest.fixture
def team(tmp_path: Path, bucket: Bucket) -> Team:
    key, trust = tmp_path / "key.pem", tmp_path / "trust"
    key.write_bytes(new_key())
    trust.write_text(f"{read_signer(key).trust_line}\n")
    return Team(tmp_path, bucket, key, trust)


def compile_all(machine: Machine) -> list[str]:
    """Compile, look at the files, and tell which instances were taken as a whole."""
    compiled = machine.world.compile(replace_all=True)
    name = machine.world.root.name
    assert machine.world.files() == ["app/hello.yaml", "cluster-app/made.yaml", "cluster-app/url.yaml"]
    assert machine.world.read("app/hello.yaml") == "colour: red\n"
    assert machine.world.read("cluster-app/made.yaml") == "colour: blue\n"
    assert machine.world.read("cluster-app/url.yaml") == f"url: https://git.example.com/{name}\n"
    return [instance.name for instance in compiled if instance.reused]


def fill(team: Team) -> None:
    with team.machine("first", write=True) as machine:
        assert compile_all(machine) == []
    assert machine.warnings() == []


@pytest.mark.requirement("FC7")
def test_another_machine_takes_instances_and_parts(team: Team) -> None:
    """Instances without inputs of the cluster are reused as a whole; of the others, their filter.
    Results stay local.
    """
    fill(team)
    kinds = sorted({name.rsplit("/", 1)[1].rsplit(".", 1)[1] for name in team.bucket.names()})
    assert kinds == ["json", "result"]

    with team.machine("second") as machine:
        assert compile_all(machine) == ["app"]
        said = [event.message for event in machine.events if isinstance(event, Noted)]
        assert any("taken from the cache: filter postprocess/f.jsonnet" in line for line in said)
        machine.events.clear()
        team.bucket.proxy.fault = "refuse"
        assert compile_all(machine) == ["app", "cluster-app"]
    assert machine.warnings() == []


@pytest.mark.requirement("FC7")
def test_a_reader_writes_nothing_and_a_component_may_stay_here(team: Team) -> None:
    with team.machine("first") as machine:
        compile_all(machine)
    assert team.bucket.names() == []
    with team.machine("second", write=True, exclude=frozenset({"cluster-app"})) as machine:
        compile_all(machine)
    assert len(team.bucket.names()) == 2  # the result of app, and its index
    with team.machine("third") as machine:
        assert compile_all(machine) == ["app"]


def with_chart(machine: Machine, output: str = "out") -> tuple[bool, list[str]]:
    """Compile an instance that reads a chart of an exact version. Whether it was taken, and how helm was called."""
    world = machine.world
    world.jobs.clear()
    world.tool("helm", HELM)
    chart = {"type": "helm", "source": "https://charts.example.com", "chart_name": "redis", "version": "1.2.3"}
    listed = [{**chart, "output_path": "dependencies/app/chart"}]
    world.add("app", jsonnet("app/main.jsonnet"), kapitan={"dependencies": listed})
    world.write("dependencies/app/main.jsonnet", OF_CHART % output)
    (compiled,) = world.compile(replace_all=True)
    assert world.read(f"app/{output}.yaml") == "chart: |\n  name: redis\n"
    assert (world.root / "dependencies" / "app" / "chart" / "Chart.yaml").read_text() == "name: redis\n"
    calls = world.root / "bin" / "pulls"
    return compiled.reused, calls.read_text().splitlines() if calls.exists() else []


@pytest.mark.requirement("FC7")
def test_another_machine_fetches_nothing(team: Team) -> None:
    """Neither for what it takes nor for what it renders; where a component's results stay, what it fetches does."""
    with team.machine("here", write=True, exclude=frozenset({"app"})) as machine:
        reused, pulls = with_chart(machine)
    assert (reused, len(pulls), team.bucket.names()) == (False, 1, [])
    with team.machine("first", write=True) as machine:
        reused, pulls = with_chart(machine)
    assert (reused, len(pulls)) == (False, 1)
    assert len([name for name in team.bucket.names() if "/dependencies/" in name]) == 1

    with team.machine("second") as machine:
        assert with_chart(machine) == (True, [])
    assert machine.warnings() == []
    with team.machine("third") as machine:
        assert with_chart(machine, "other") == (False, [])
    assert machine.warnings() == []


@pytest.mark.requirement("FC13", "FC14")
@pytest.mark.parametrize("fault", ["hang", "status 403"])
def test_a_store_that_fails_costs_a_rendering_and_one_warning(team: Team, fault: str) -> None:
    team.bucket.proxy.fault = fault
    with team.machine("first", write=True, limits=QUICK) as machine:
        assert compile_all(machine) == []
    assert machine.warnings() == ["CMD-CACHE-020"]
    assert "SECRET" not in repr(machine.events)


@pytest.mark.requirement("FC7")
def test_a_warning_gives_the_reason_of_failures(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "v1").symlink_to(tmp_path / "file")
    url = (tmp_path / "store").as_uri()
    results = ResultStore(tmp_path / "local", DEFAULT_LIMITS)
    cache = RemoteCache(RemoteOptions((url,), write=True), results)
    cache.results.store.create("v1/x", b"content")
    events: list[Event] = []
    cache.close(events.append)
    [warned] = [event.message for event in events if isinstance(event, Warned)]
    assert f"requests that failed: 1 (1 to {url}: not a directory)" in warned


def test_what_is_not_from_a_trusted_key_is_rendered(team: Team) -> None:
    fill(team)
    (team.root / "other.pem").write_bytes(new_key())
    other = read_signer(team.root / "other.pem")
    names = [name for name in team.bucket.names() if name.endswith(".result")]
    for name in names[:-1]:
        evil = team.bucket.read(name).partition(b"\n")[2].replace(b"red", b"bad").replace(b"blue", b"evil")
        team.bucket.write(name, other.seal(name.removeprefix("team/"), evil))
    team.bucket.write(names[-1], team.bucket.read(names[-1])[:-1] + b"?")

    with team.machine("second") as machine:
        assert compile_all(machine) == []
    assert set(machine.warnings()) <= {"CMD-CACHE-021", "CMD-CACHE-022"}
    assert "CMD-CACHE-022" in machine.warnings()


@pytest.mark.requirement("FC7")
@pytest.mark.parametrize(
    "files",
    [
        [["../../out", 0o644, 1]],
        [["/out", 0o644, 1]],
        [["a/../../out", 0o644, 1]],
        [["link", 0, "/"], ["link/out", 0o644, 1]],
        [["hello.yaml", 0o4755, 1]],
        [["hello.yaml", 0o644, 1], ["hello.yaml", 0o644, 0]],
        [[7, 0o644, 1]],
        "no list",
    ],
)
def test_what_is_signed_and_still_no_result_is_left_out(tmp_path: Path, files: object) -> None:
    store = ResultStore(tmp_path / "results", DEFAULT_LIMITS)
    key = ("file", "root:a")
    store.adopt("s" * 64, {key: "1"}, json.dumps([files, [], 0o755, []]).encode() + b"\nx")
    assert list(store.shapes("s" * 64)) == []
    assert not list(tmp_path.rglob("*.result"))


def test_an_index_that_is_rubbish_is_a_miss(tmp_path: Path) -> None:
    access = ReadAccess((f"file://{tmp_path}/store",), Trust({}, anyone=True))
    store = RemoteStore(access, Signer(None), DEFAULT_LIMITS)
    remote = RemoteResults(ResultStore(tmp_path / "local", DEFAULT_LIMITS), store)
    rubbish = (
        b"",
        b"[",
        b"{}",
        b"5",
        b'["x"]',
        b"[[[]]]",
        b'[[[]], [["file"], []]]',
        b"[[[1, 2]]]",
        b'[[["file", "root:a"]], {"a": 1}, 5]',
        b"\xff",
    )
    for number, content in enumerate(rubbish):
        subject = f"{number:064}"
        store.create(f"v1/{subject[:2]}/{subject}/shapes.json", content)
        shapes = remote.shapes([subject])[subject]
        assert [keys for _, keys in shapes] == ([(("file", "root:a"),)] if b"root:a" in content else [])
    store.create(f"v1/ff/{'f' * 64}/shapes.json", b'[[["file", "root:a"]]]')
    assert [keys for _, keys in remote.shapes(["f" * 64])["f" * 64]] == [(("file", "root:a"),)]


def test_reads_of_other_machines_that_nothing_here_can_be() -> None:
    """They come from another version, or are damaged; each kind of read is taken as it is written."""
    sources = [("http", "u"), ("git", "u", "v1", "folder"), ("helm", "u", "chart", "1.0.0")]
    sound = [(kind.name, *(("a",) if not kind.is_single else ())) for kind in KINDS.values() if kind is not SOURCE]
    sound += [SOURCE.key(*source) for source in sources]
    assert [keys for _, keys in usable([("x", (key,)) for key in sound])] == [(key,) for key in sound]
    unsound = [(kind.name, *(("a",) if kind.is_single else ())) for kind in KINDS.values()]
    unsound += [SOURCE.key(*source[:-1]) for source in (sources[0], sources[1][:3], sources[2])]
    unsound += [("new-kind", "a"), SOURCE.key("oci", "u", "v1", "")]
    assert usable([("x", (sound[0], key)) for key in unsound]) == ()


def test_what_random_values_may_be_in_stays_here(team: Team) -> None:
    """A chart with random functions is rendered on each machine: what it makes up may be a secret."""
    with team.machine("first", write=True) as machine:
        world = machine.world
        world.jobs.clear()
        chart = {"input_type": "helm", "input_paths": ["app/chart"], "output_path": ".", "helm_values": {}}
        params = {"helm_params": {"name": "app", "namespace": "app"}}
        world.add("app", {**chart, **params}, cluster={"name": "c", "tenant": "t"})
        world.write("dependencies/app/chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
        template = "kind: Secret\napiVersion: v1\nmetadata: {name: a}\nstringData: {p: {{ randAlphaNum 9 }}}\n"
        world.write("dependencies/app/chart/templates/a.yaml", template)
        world.compile(replace_all=True)
        assert list((team.root / "first" / "cache").rglob("*.result"))
    assert team.bucket.names() == []


def test_threads_wait_for_what_another_one_fetches(tmp_path: Path, bucket: Bucket) -> None:
    """Clusters of a fleet look for the same results at the same time: each finds them when its own look is over."""
    bucket.proxy.latency = 0.1
    access = ReadAccess((bucket.url,), Trust({}, anyone=True))
    key, subject = ("file", "root:a"), "s" * 64
    source = ResultStore(tmp_path / "source", DEFAULT_LIMITS)
    kept = source.add(subject, {key: "1"}, Result((("a", 0o644, b"1"),)))
    assert kept is not None
    writer = ResultWriter(source, RemoteStore(access, Signer(None), DEFAULT_LIMITS))
    writer.offer([kept])
    assert writer.finish() == 0

    local = ResultStore(tmp_path / "local", DEFAULT_LIMITS)
    remote = RemoteResults(local, RemoteStore(access, None, DEFAULT_LIMITS))
    results: list[Result | None] = []

    def look() -> None:
        ((shape, keys),) = remote.shapes([subject])[subject]
        remote.bring([RequestedResult(subject, keys, ("1",))])
        results.append(local.find(subject, shape, ["1"]))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [Result((("a", 0o644, b"1"),))] * 4
    assert remote.store.take_counts().used == 2  # the list and the result, once


def test_a_store_that_takes_nothing_ends_no_run(tmp_path: Path, bucket: Bucket) -> None:
    """Results that wait at the end of the time limit are dropped and counted."""
    bucket.proxy.fault = "hang"
    limits = replace(DEFAULT_LIMITS, remote_finish_seconds=0.2, remote_write_threads=1, remote_waiting=3)
    local = ResultStore(tmp_path, limits)
    store = RemoteStore(ReadAccess((bucket.url,), Trust({}, anyone=True)), Signer(None), limits)
    kept = [local.add("s" * 64, {("file", str(number)): "1"}, Result(())) for number in range(6)]
    writer = ResultWriter(local, store)
    left_out = writer.offer([address for address in kept if address is not None])
    assert left_out + writer.finish() >= 5


def test_where_home_lies_makes_no_difference(team: Team) -> None:
    """Users set XDG_CONFIG_HOME and HELM_CACHE_HOME below their home, which is another one on each machine."""
    for name, reused in (("first", []), ("second", ["app"])):
        with team.machine(name, write=True) as machine:
            home = team.root / name / "home"
            for variable in ("XDG_CONFIG_HOME", "HELM_CACHE_HOME"):
                machine.world.environment[variable] = f"{home}/{variable}"
            machine.world.environment["HOME"] = str(home)
            assert compile_all(machine) == reused
