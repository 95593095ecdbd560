"""`commodore fleet compile` and `fleet report` as users see them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shown
from tests.world import lieutenant
from tests.world.documents import check_documents
from tests.world.many_clusters import FleetWorld


@pytest.mark.requirement("FC9", "FC12")
def test_the_report(tmp_path: Path) -> None:
    """Equal changes are shown once; the report is kept, and can be shown again, narrowed, and as Markdown."""
    world = FleetWorld(tmp_path, 3)
    assert world.cli("--push").code == 0
    world.change({"cluster": "${cluster:name}", "value": "2"})
    world.world.tenant_config.commit({"c-3.yml": "classes: [none.such]\n"})
    done = world.cli("--push", "--report", "r.json", "--report", "r.md", "--canary", "c-1")
    assert done.code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "Fleet of 3 clusters: 1 pushed, 1 changed, 1 failed"
    assert lines[1] == "1  in c-1, c-2; differs only in cluster.name; as in c-1"
    assert "     -  value: '1'" in lines
    assert "failed: c-3" in lines
    assert "Wave rest: 1 of 2 clusters of wave rest failed, none may (--max-failures 0)" in lines
    assert lines[-1] == "Pushed: 1 of 3."
    events = [(event["event"], event.get("cluster")) for event in done.events]
    assert ("ClusterEnded", "c-1") in events
    assert ("StageStarted", "c-2") in events
    text = (tmp_path / "r.json").read_text()
    check_documents(text)
    report = json.loads(text)
    assert report["schema"] == "fleet-report"
    assert [wave["state"] for wave in report["waves"]] == ["published", "failed"]
    assert [item["state"] for item in report["clusters"]] == ["pushed", "changed", "failed"]
    assert report["clusters"][0]["summary"] == {"modified": 1}
    assert [error["clusters"] for error in report["errors"]] == [["c-3"]]
    assert "```diff" in (tmp_path / "r.md").read_text()
    work = ["-d", str(tmp_path / "work"), "fleet", "report"]
    again = world.world.run(*work)
    assert again.stdout.splitlines() == lines
    only = json.loads(world.world.run(*work, "--state", "failed", "-o", "json").stdout)
    assert [item["id"] for item in only["clusters"]] == ["c-3"]
    some = world.world.run(*work, "--cluster", "c-2").stdout.splitlines()
    assert some[:2] == [
        "Fleet of 3 clusters, 1 of them shown: 1 changed",
        "1  in c-2; differs only in cluster.name; as in c-1",
    ]
    assert some[-1] == lines[-1]
    unknown = world.world.run("--log-format", "json", *work, "--group", "none")
    assert (unknown.code, unknown.error["code"]) == (1, "CMD-FLT-120")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--shard", "1/2", "--push"], "CMD-FLT-117"),
        (["--canary", "1", "--waves", "w.yml"], "CMD-FLT-121"),
        (["--push", "--offline"], "CMD-CLI-026"),
    ],
)
def test_options_that_exclude_each_other(tmp_path: Path, arguments: list[str], code: str) -> None:
    world = FleetWorld(tmp_path, 1)
    (tmp_path / "w.yml").write_text("waves: [{name: a}]")
    done = world.cli(*arguments)
    assert (done.code, done.error["code"]) == (2, code)


def test_a_level_of_waves_needs_waves(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 1)
    world.world.environment["COMMODORE_FLEET_WAVE_LEVEL"] = "regions"
    done = world.cli()
    assert (done.code, done.error["code"]) == (2, "CMD-FLT-121")


@pytest.mark.requirement("FC1", "FC10")
@pytest.mark.parametrize(
    ("arguments", "exit_code", "code", "hint"),
    [
        (["--canary", "c-4"], 2, "CMD-FLT-121", "did you mean 'c-3'"),
        (["--canary", "c-1,c-4"], 2, "CMD-FLT-121", "did you mean 'c-3'"),
        (["--canary", "0"], 2, "CMD-FLT-121", "write it as"),
        (["--canary", "3"], 2, "CMD-FLT-121", "take fewer"),
        (["--canary", ""], 2, "CMD-CLI-002", "--help"),
        (["--shard", ""], 2, "CMD-CLI-002", "--help"),
        (["--exclude", ""], 2, "CMD-CLI-002", "--help"),
        (["--waves", "typo.yml"], 2, "CMD-FLT-121", "did you mean 'c-3'"),
        (["--waves", "empty.yml"], 2, "CMD-FLT-121", "correct its clusters"),
        (["--canary", "1", "--approve", "canry"], 2, "CMD-FLT-090", "did you mean 'canary'"),
        (["--waves", "soak.yml", "--status", "c-4=state.json"], 2, "CMD-FLT-090", "did you mean 'c-3'"),
        (["--waves", "soak.yml", "--status", "no.json"], 3, "CMD-WORK-003", "unchanged"),
        (["--status", "state.json"], 2, "CMD-FLT-121", "soak"),
        (["--exclude", "c-4"], 1, "CMD-FLT-100", "did you mean 'c-3'"),
        (["--tenant", "t-one", "--tenant", "t-two"], 1, "CMD-FLT-101", "did you mean 't-one'"),
    ],
)
def test_names_that_do_not_exist(fleet: FleetWorld, arguments: list[str], exit_code: int, code: str, hint: str) -> None:
    """A name or a number that matches nothing ends the run before anything is begun."""
    done = fleet.cli("--push", *arguments)
    assert (done.code, done.error["code"]) == (exit_code, code), done.stderr
    assert hint in done.error["hint"]
    assert not (fleet.root / "work" / "fleet" / "runs").exists()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> FleetWorld:
    root = tmp_path_factory.mktemp("fleet")
    (root / "typo.yml").write_text("waves: [{name: a, clusters: {ids: [c-1, c-4]}}, {name: rest}]")
    (root / "empty.yml").write_text("waves: [{name: a, clusters: {facts: {cloud: none}}}, {name: rest}]")
    (root / "soak.yml").write_text("waves: [{name: a, soak: 1s, clusters: {ids: [c-1]}}, {name: rest}]")
    (root / "state.json").write_text(json.dumps({"items": []}))
    return FleetWorld(root, 3)


def test_without_an_api_clusters_come_from_files(tmp_path: Path) -> None:
    done = FleetWorld(tmp_path, 1).world.run("--log-format", "json", "fleet", "compile", "--offline")
    assert (done.code, done.error["code"]) == (2, "CMD-FLT-118")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--resume"], "CMD-FLT-115"), (["--resume", "newest"], "CMD-FLT-115"), (["--resume=", "none"], "CMD-FLT-100")],
)
def test_the_run_to_go_on_with(call: Callable[..., Shown], tmp_path: Path, arguments: list[str], code: str) -> None:
    """It is the newest one if it is not named; an empty name, as of an unset variable, begins a new run."""
    path = tmp_path / "clusters.json"
    path.write_text(json.dumps({"clusters": [lieutenant.cluster("c-1", "t-1")], "tenant": lieutenant.tenant("t-1")}))
    done, _, err = call("-d", str(tmp_path), "fleet", "compile", "--cluster-file", str(path), *arguments)
    assert (done, f"[{code}]" in err) == (1, True)
