"""Anything that was pushed is reported, whenever the run that pushed it ended; what was not pushed is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commodore.base.files.sealed import read_sealed
from tests.world.cluster import ClusterWorld
from tests.world.lieutenant import failing
from tests.world.repos import git


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"})
    return made


def kept(world: ClusterWorld) -> Any:
    file = world.work / ".commodore" / "pending-report.json"
    return json.loads(read_sealed(file, ("pending reports",)) or b"") if file.exists() else {}


def kill_at(world: ClusterWorld, hook: str, *, accept: bool = True, state: str = "") -> None:
    """Kill the program, with kill -9, when the remote runs this hook for its push."""
    script = f"""
    [ -z '{state}' ] || [ "$1" = '{state}' ] || exit 0
    kill -9 $(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' '{world.work}/.commodore/lock')
    exit {0 if accept else 1}
    """
    world.apart = True
    world.catalog.hook(hook, script)


def unhook(world: ClusterWorld) -> None:
    for hook in (world.catalog.path / "hooks").iterdir():
        hook.unlink()


def told(world: ClusterWorld) -> str:
    """The time of the compile that the remote's newest commit tells of, as it is reported."""
    return world.message().rpartition("Compilation timestamp: ")[2].strip()


def test_a_run_that_is_killed_after_its_push_is_reported_by_the_next_one(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        kill_at(world, "post-receive")
        assert world.compile("--push").code == -9
        assert len(world.commits()) == 2
        assert api.reports == []
        unhook(world)
        [entry] = kept(world)["c-one"]
        assert entry["commit"] == world.catalog.sha()
        again = world.compile("--push")
        assert (again.code, again.warnings) == (0, [])
        assert len(world.commits()) == 2
        ((cluster, report),) = api.reports
        assert cluster == "c-one"
        assert report == entry["report"]
        assert report["lastCompile"] == told(world)
        assert report["instances"]["app"]["gitSha"] == world.remotes["app"].sha()
        assert kept(world) == {}
        assert world.compile("--push").code == 0
        assert len(api.reports) == 1


def test_a_push_whose_answer_is_lost_is_reported_by_the_next_run(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        world.catalog.hook("reference-transaction", '[ "$1" != committed ] || kill -9 $PPID')
        lost = world.compile("--push")
        assert (lost.code, lost.error["code"]) == (3, "CMD-CAT-013")
        assert len(world.commits()) == 2
        unhook(world)
        assert world.compile("--push").code == 0
        ((_, report),) = api.reports
        assert report["lastCompile"] == told(world)
        assert kept(world) == {}


def test_what_was_never_pushed_is_never_reported(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        kill_at(world, "pre-receive", accept=False)
        assert world.compile("--push").code == -9
        assert world.tree() == {}
        unhook(world)
        world.tenant_parameters = {"app": {"data": {"a": "2"}}}
        assert world.compile("--push").code == 0
        ((_, report),) = api.reports
        assert report["lastCompile"] == told(world)
        assert kept(world) == {}


def test_a_refused_push_is_forgotten_when_there_is_nothing_to_push_any_more(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        assert world.compile("--push").code == 0
        world.tenant_parameters = {"app": {"data": {"a": "2"}}}
        world.catalog.refuse_pushes("not now")
        assert world.compile("--push").code == 3
        assert [entry["commit"] for entry in kept(world)["c-one"]] == [git(world.work / "catalog", "rev-parse", "HEAD")]
        world.tenant_parameters = {}
        unhook(world)
        assert world.compile("--push").code == 0
        assert len(api.reports) == 1
        assert kept(world) == {}


def test_a_commit_that_a_person_pushes_is_reported(world: ClusterWorld) -> None:
    """The hint of a refused push says how."""
    with world.lieutenant() as api:
        world.catalog.refuse_pushes("not now")
        assert world.compile("--push").code == 3
        unhook(world)
        git(world.work / "catalog", "push", "--quiet", "origin", "HEAD:master")
        assert world.compile("--push").code == 0
        ((_, report),) = api.reports
        assert report["lastCompile"] == told(world)


def test_others_may_have_pushed_since(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        kill_at(world, "post-receive")
        assert world.compile("--push").code == -9
        unhook(world)
        expected = told(world)
        world.catalog.commit({"README.md": "by hand"}, message="Explain")
        assert world.compile("--push").code == 0
        assert [report["lastCompile"] for _, report in api.reports] == [expected]
        assert kept(world) == {}


def test_an_older_report_does_not_replace_that_of_a_later_compile_elsewhere(world: ClusterWorld) -> None:
    """Lieutenant keeps the last report of a cluster: it must be that of the newest compile in the catalog."""
    with world.lieutenant() as api:
        kill_at(world, "post-receive")
        assert world.compile("--push").code == -9
        unhook(world)
        here, world.work = world.work, world.root / "elsewhere"
        world.tenant_parameters = {"app": {"data": {"a": "2"}}}
        assert world.compile("--push").code == 0
        world.work = here
        assert world.compile("--push").code == 0
        assert [report["lastCompile"] for _, report in api.reports] == [told(world)]
        assert kept(world) == {}


def test_an_unreachable_lieutenant_does_not_lose_the_report_of_a_push_before_a_refused_one(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        api.script(failing(500, "broken"), times=99, method="POST")
        assert world.compile("--push").warnings == ["CMD-CAT-010"]
        expected = told(world)
        world.tenant_parameters = {"app": {"data": {"a": "2"}}}
        world.catalog.refuse_pushes("not now")
        refused = world.compile("--push")
        assert (refused.code, refused.warnings) == (3, ["CMD-CAT-010"])
        unhook(world)
    with world.lieutenant() as api:
        world.tenant_parameters = {}
        assert world.compile("--push").code == 0
        assert [report["lastCompile"] for _, report in api.reports] == [expected]
        assert kept(world) == {}


def test_a_report_that_cannot_be_kept_stops_the_push(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        assert world.compile().code == 0
        (world.work / ".commodore" / "pending-report.json").mkdir()
        (world.work / ".commodore" / "pending-report.json" / "x").touch()
        result = world.compile("--push")
        assert (result.code, result.error["code"]) == (3, "CMD-WORK-003")
        assert world.tree() == {}
        assert api.reports == []


def test_a_report_of_an_older_version_is_sent(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        (world.work / ".commodore").mkdir(parents=True)
        (world.work / ".commodore" / "pending-report.json").write_text(json.dumps({"c-one": {"n": 1}}))
        assert world.compile("--push").code == 0
        assert [report.get("n") for _, report in api.reports] == [1, None]
        assert kept(world) == {}
