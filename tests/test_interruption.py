"""Runs that are interrupted, killed, or meet another run: nothing is lost, and nothing is left running."""

from __future__ import annotations

import math
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld, Running
from tests.world.lieutenant import held, slow
from tests.world.repos import dying_git, git
from tests.world.sampling import sample

MANIFEST = """apiVersion: v1
data:
  a: '%s'
kind: ConfigMap
metadata:
  name: %s"""

REFERENCE = "?{vaultkv:a/b/key}"


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"}, metadata={"multi_instance": True}, secret=REFERENCE)
    made.applications.append("app as other")
    made.parameters["secret_management"] = {"vault_addr": "https://vault.example.com", "vault_mount": "kv"}
    return made


def assert_interrupted(running: Running) -> None:
    """The run says that it was ended, with the documented exit code, and leaves no process."""
    result = running.finish()
    assert result.code == 130, result.stderr
    assert "Aborted" in [event["event"] for event in result.events]
    assert result.errors == []
    assert "Traceback" not in result.stderr
    assert running.orphans() == []


def assert_whole(world: ClusterWorld, data: str) -> None:
    """The catalog is what an undisturbed run gives; the repositories are sound; nothing of the dead run is there."""
    tree = world.tree()
    assert sorted(tree) == ["manifests/app/config.yaml", "manifests/other/config.yaml", "refs/a/b/key"]
    assert tree["manifests/app/config.yaml"] == MANIFEST % (data, "app")
    assert tree["manifests/other/config.yaml"] == MANIFEST % (data, "other")
    assert world.local_tree().keys() == tree.keys()
    assert git(world.work / "catalog", "status", "--porcelain") == ""
    git(world.work / "catalog", "fsck", "--no-progress")
    assert list((world.work / ".commodore").glob("*.staging")) == []
    assert sorted(path.name for path in world.work.iterdir()) == [
        ".commodore",
        "catalog",
        "compiled",
        "dependencies",
        "inventory",
        "jsonnetfile.json",
        "jsonnetfile.lock.json",
        "vendor",
    ]


STAGES = [
    "loading the cluster",
    "fetching configuration",
    "fetching packages",
    "fetching components",
    "bundling jsonnet libraries",
    "compiling",
    "assembling the catalog",
    "publishing the catalog",
]


@pytest.mark.parametrize("stage", sample(STAGES, 4))
def test_ended_at_a_stage(world: ClusterWorld, stage: str) -> None:
    """Ctrl-C, then a kill, in a fresh working directory; then an undisturbed run; then a kill in an old one."""
    running = world.start("--push")
    assert running.wait_for(stage)
    running.signal_group(signal.SIGINT)
    assert_interrupted(running)

    running = world.start("--push")
    if running.wait_for(stage):
        running.signal_group(signal.SIGKILL)
    assert running.finish().code in (0, -signal.SIGKILL)
    assert running.orphans() == []

    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert_whole(world, "1")

    world.remotes["app"].commit(world.component_files("app", {"a": "2"}, {"multi_instance": True}, secret=REFERENCE))
    running = world.start("--push")
    assert running.wait_for(stage)
    running.signal_group(signal.SIGKILL)
    running.finish()
    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert "CMD-CAT-012" not in result.warnings  # nobody's work was in the way
    assert_whole(world, "2")
    assert len(world.commits()) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_while_rendering(world: ClusterWorld, number: signal.Signals) -> None:
    """A component that never ends does not outlive the program, however politely it is asked to go."""
    world.remotes["app"].commit(
        {"component/main.jsonnet": "local f(n) = if n < 0 then 0 else f(n - 1) + f(n - 1); { a: f(200) }"}
    )
    running = world.start("--processes", "2")
    assert running.wait_for("compiling")
    running.signal_process(number)
    assert_interrupted(running)


@pytest.fixture
def silence() -> Iterator[str]:
    """The address of a server that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_ended_while_a_remote_is_silent(world: ClusterWorld, silence: str) -> None:
    world.descriptions["app"]["url"] = f"{silence}/app.git"
    running = world.start()
    assert running.wait_for("fetching components")
    running.signal_process(signal.SIGINT)
    assert_interrupted(running)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_while_the_catalog_is_silent(world: ClusterWorld, silence: str, number: signal.Signals) -> None:
    world.catalog_url = f"{silence}/catalog.git"
    running = world.start()
    assert running.wait_for("fetching components")
    running.signal_process(number)
    assert_interrupted(running)


def test_an_error_does_not_wait_for_a_silent_catalog(world: ClusterWorld, silence: str) -> None:
    world.catalog_url = f"{silence}/catalog.git"
    world.descriptions["app"]["version"] = "gone"
    result = world.compile()
    assert result.code == 1
    assert {error["code"] for error in result.errors} == {"CMD-GIT-030"}


def test_ended_while_the_api_is_slow(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        api.script(slow(30), times=9)
        running = world.start()
        assert running.wait_for("loading the cluster")
        running.signal_process(signal.SIGINT)
        assert_interrupted(running)
        api.stopping.set()


def test_two_runs_at_once(world: ClusterWorld) -> None:
    """The second says who works there and changes nothing; the first ends well."""
    tried = threading.Event()
    world.environment["COMMODORE_REQUEST_TIMEOUT"] = "600"
    with world.lieutenant() as api:
        api.script(held(tried), times=math.inf)
        try:
            first = world.start("--push")
            assert first.wait_for("loading the cluster")
            second = world.compile("--push")
            cleaned = world.run("-d", str(world.work), "--log-format", "json", "catalog", "clean")
        finally:
            tried.set()
        result = first.finish()
    assert (second.code, second.error["code"]) == (4, "CMD-WORK-002")
    assert f"pid {first.pid}" in second.error["message"]
    assert second.error["hint"]
    assert (cleaned.code, cleaned.error["code"]) == (4, "CMD-WORK-002")
    assert result.code == 0, result.stderr
    assert_whole(world, "1")


@pytest.mark.parametrize("what", ["app", "tenant"])
@pytest.mark.parametrize("then", ["--push", "--local"])
def test_a_checkout_that_was_interrupted(
    world: ClusterWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, then: str
) -> None:
    """Files of the new commit lie there, new ones too; the next run takes them for its own, also in local mode."""
    assert world.compile("--push").code == 0
    if what == "app":
        files = world.component_files("app", {"a": "2"}, {"multi_instance": True}, secret=REFERENCE)
        world.remotes["app"].commit({**files, "new": "new"})
    else:
        world.tenant_config.commit({"new.yml": "parameters: {}\n"})
    write_all = 'for last; do :; done; "$REAL" archive "$last" | tar -x; kill -9 $$'
    armed = dying_git(tmp_path, monkeypatch, "checkout", write_all)
    for _ in range(2):
        result = world.compile("--push")
        assert (result.code, {error["code"] for error in result.errors}) == (3, {"CMD-GIT-002"})
        dying_git(tmp_path, monkeypatch, "checkout-index", "kill -9 $$")
        folder = world.work / ("dependencies/app" if what == "app" else f"inventory/classes/{world.tenant}")
        (folder / ("new" if what == "app" else "new.yml")).unlink(missing_ok=True)
    armed.unlink()
    result = world.compile(then)
    assert result.code == 0, result.stderr
    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert result.warnings == []
    assert_whole(world, "2" if what == "app" else "1")
    assert git(folder, "status", "--porcelain") == ""
