"""A run over many clusters: wave by wave, judged before anything is pushed, and continued after it was killed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError
from commodore.base.events import ClusterEnded, InCluster, Noted
from commodore.base.files.workspace import Workspace
from commodore.base.limits import Limits
from commodore.clusters import FleetReport, Wave, canary
from commodore.clusters.journal import find_run
from commodore.clusters.sources import FileFleet
from commodore.clusters.waves import Amount, Match
from commodore.core.lieutenant import Cluster, read_cluster_file
from tests.world import many_clusters
from tests.world.cluster import ROOT, Running
from tests.world.context import make_context
from tests.world.kubernetes import wait_until
from tests.world.many_clusters import FleetWorld
from tests.world.repos import RoundTrips, git


def states(report: FleetReport) -> dict[str, str]:
    return {cluster.id: cluster.state for cluster in report.clusters}


def codes(report: FleetReport) -> dict[str, str]:
    return {cluster.id: cluster.error.code for cluster in report.clusters if cluster.error is not None}


def attempts_told(world: FleetWorld) -> list[str]:
    """The announcements of further attempts."""
    notes = (event.event for event in world.events if isinstance(event, InCluster) and isinstance(event.event, Noted))
    return [note.message.rpartition("; ")[2] for note in notes if "attempt " in note.message]


def break_cluster(world: FleetWorld, name: str) -> None:
    world.world.tenant_config.commit({f"{name}.yml": "classes: [none.such]\n"})


@pytest.mark.requirement("FC1", "FC2", "FC4")
def test_catalogs_are_those_of_single_compiles(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 2)
    report = world.run()
    assert states(report) == {"c-1": "pushed", "c-2": "pushed"}
    assert (report.exit_code, [wave.state for wave in report.waves]) == (0, ["published"])
    for name in world.names:
        assert world.files(name) == world.single(name)
        assert world.commits(name) == 1
    again = world.run()
    assert states(again) == {"c-1": "unchanged", "c-2": "unchanged"}
    assert [world.commits(name) for name in world.names] == [1, 1]


def test_clusters_with_secrets_share_what_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many clusters there are, an unchanged one renders nothing, though its secrets are its own."""
    monkeypatch.setattr(many_clusters, "LIMITS", replace(many_clusters.LIMITS, shapes=2))
    world = FleetWorld(tmp_path, 4)
    secret = "?{vaultkv:${cluster:tenant}/${cluster:name}/app/password}"
    vault = {"vault_addr": "https://vault.example.com", "vault_mount": "kv"}
    parameters = {"app": {"data": {"password": secret}}, "secret_management": vault}
    text = yaml.safe_dump({"parameters": parameters})
    world.world.tenant_config.commit({f"{name}.yml": text for name in world.names})
    assert set(states(world.run()).values()) == {"pushed"}
    assert [(cluster.state, cluster.instances.rendered) for cluster in world.run().clusters] == [("unchanged", 0)] * 4


@pytest.mark.requirement("FC3", "FC10", "FC11")
def test_a_failing_cluster_harms_no_other(tmp_path: Path) -> None:
    """It keeps its wave from being pushed, unless so many may fail; all others are compiled all the same."""
    world = FleetWorld(tmp_path, 3)
    break_cluster(world, "c-2")
    report = world.run(Wave("one"))
    assert states(report) == {"c-1": "changed", "c-2": "failed", "c-3": "changed"}
    assert codes(report).keys() == {"c-2"}
    assert (report.exit_code, report.waves[0].state) == (1, "failed")
    assert "1 of 3 clusters of wave one failed, none may" in report.waves[0].reason
    assert [world.commits(name) for name in world.names] == [0, 0, 0]
    assert report.folder is not None
    logs = {path.stem: path.read_text().splitlines() for path in (report.folder / "logs").iterdir()}
    ended = {"event": "StageFinished", "stage": "compiling"}
    compiled = {name: any(ended.items() <= json.loads(line).items() for line in log) for name, log in logs.items()}
    assert compiled == {"c-1": True, "c-2": False, "c-3": True}
    report = world.run(Wave("one", max_failures=Amount(1)))
    assert states(report) == {"c-1": "pushed", "c-2": "failed", "c-3": "pushed"}
    assert [world.commits(name) for name in world.names] == [1, 0, 1]


@pytest.mark.requirement("FC10")
def test_a_bad_canary_stops_the_rest(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 2)
    break_cluster(world, "c-2")
    report = world.run(*canary("c-2"))
    assert states(report) == {"c-1": "not-begun", "c-2": "failed"}
    assert [wave.state for wave in report.waves] == ["failed", "not-begun"]
    assert world.commits("c-1") == 0
    too_many = Wave("few", Match(ids=("c-1",)), max_changed=0)
    report = world.run(too_many, Wave("rest"))
    assert ([wave.state for wave in report.waves], report.exit_code) == (["failed", "not-begun"], PolicyError.exit_code)
    assert "1 of 1 clusters of wave few changed, 0 may" in report.waves[0].reason


@pytest.mark.requirement("FC10", "FC11")
def test_a_manual_gate_needs_approval(tmp_path: Path) -> None:
    """The run can go on when it is given, and pushes what was compiled before."""
    world = FleetWorld(tmp_path, 1)
    wave = Wave("prod", manual=True)
    report = world.run(wave)
    assert (report.waves[0].state, report.exit_code, world.commits("c-1")) == ("refused", PolicyError.exit_code, 0)
    world.change({"value": "2"})  # comes too late for this run
    report = world.run(wave, resume="", approved=frozenset({"prod"}))
    assert (states(report), report.exit_code) == ({"c-1": "pushed"}, 0)
    assert "value: '1'" in world.files("c-1")["manifests/app/config.yaml"]
    assert states(world.run()) == {"c-1": "pushed"}
    assert "value: '2'" in world.files("c-1")["manifests/app/config.yaml"]


@pytest.mark.requirement("FC11")
def test_only_what_was_judged_is_pushed(tmp_path: Path) -> None:
    """Anything that is staged after the judgement is not pushed; a workspace that is gone is made again, of the same
    commits.
    """
    world = FleetWorld(tmp_path, 3)

    def meddle(wave: Wave, report: FleetReport) -> bool:
        del wave, report
        world.change({"value": "other"})
        clusters = tmp_path / "work" / "clusters"
        folder = clusters / "c-1" / "catalog"
        (folder / "manifests" / "extra.yaml").write_text("a: 1\n")
        git(folder, "add", "--all")
        shutil.rmtree(clusters / "c-2")
        return True

    report = world.run(Wave("one", max_failures=Amount(3)), ask=meddle, retries=1)
    assert codes(report) == {"c-1": "CMD-CAT-024"}
    assert states(report) == {"c-1": "failed", "c-2": "pushed", "c-3": "pushed"}
    assert [world.commits(name) for name in world.names] == [0, 1, 1]
    assert "value: '1'" in world.files("c-2")["manifests/app/config.yaml"]


@pytest.mark.requirement("FC11")
def test_other_trees_are_not_pushed(tmp_path: Path) -> None:
    """Anything that comes out differently when it is compiled again was not judged."""
    world = FleetWorld(tmp_path, 1)
    world.world.tenant_parameters = {"app": {"data": {"cloud": "${facts:cloud}"}}}
    wave = Wave("prod", manual=True)
    assert world.run(wave).waves[0].state == "refused"
    world.facts["c-1"] = {"cloud": "exoscale"}
    report = world.run(wave, resume="", approved=frozenset({"prod"}))
    assert codes(report) == {"c-1": "CMD-FLT-110"}
    assert world.commits("c-1") == 0


@pytest.mark.requirement("FC11")
def test_a_commit_by_others_after_the_judgement(tmp_path: Path) -> None:
    """It is not taken back unseen, whether the run goes on at once or later: the next run judges what that would do."""
    world = FleetWorld(tmp_path, 3)
    world.run()
    world.change({"value": "2"})
    theirs: dict[str, str] = {}

    def commit_meanwhile(wave: Wave, report: FleetReport) -> bool:
        del wave, report
        theirs["c-1"] = world.catalogs["c-1"].commit({"manifests/app/config.yaml": "mended: by hand\n"})
        return True

    waves = (Wave("first", Match(ids=("c-1",)), max_failures=Amount(1)), Wave("gate", manual=True))
    report = world.run(*waves, ask=commit_meanwhile, retries=2)
    assert states(report) == {"c-1": "failed", "c-2": "changed", "c-3": "changed"}
    theirs["c-2"] = world.catalogs["c-2"].commit({"README.md": "theirs\n"})
    report = world.run(*waves, resume="", approved=frozenset({"gate"}))
    assert states(report) == {"c-1": "failed", "c-2": "failed", "c-3": "pushed"}
    assert codes(report) == {"c-1": "CMD-CAT-025", "c-2": "CMD-CAT-025"}
    assert report.exit_code == PolicyError.exit_code
    assert {name: world.catalogs[name].sha() for name in theirs} == theirs

    seen = []
    report = world.run(ask=lambda wave, report: bool(seen.extend(report.groups)) or True)
    assert states(report) == {"c-1": "pushed", "c-2": "pushed", "c-3": "unchanged"}
    assert any("mended: by hand" in text for group in seen for _, text in group.diff)


@pytest.mark.requirement("FC10")
def test_a_wave_must_be_healthy_when_it_has_soaked(tmp_path: Path) -> None:
    """It is judged again when the run goes on, and it does not soak twice."""
    world = FleetWorld(tmp_path, 2)
    status = tmp_path / "status.json"
    waves = (Wave("canary", Match(ids=("c-1",)), soak=1), Wave("rest"))
    asked: dict[str, Any] = {"status": (str(status),)}

    def say(**states: dict[str, str]) -> None:
        status.write_text(
            json.dumps({"cells": {name.replace("_", "-"): {"app": state} for name, state in states.items()}})
        )

    say(c_2={"health": "Healthy", "sync": "Synced"})
    report = world.run(*waves, **asked)
    assert [wave.state for wave in report.waves] == ["refused", "not-begun"]
    assert (report.waves[0].reason.partition(" (")[0], report.exit_code) == (
        "wave canary is not healthy: c-1: unknown",
        1,
    )
    say(c_1={"health": "Degraded", "sync": "Synced"})
    report = world.run(*waves, **asked, resume="")
    assert "c-1/app: Degraded, Synced" in report.waves[0].reason
    assert [world.commits(name) for name in world.names] == [1, 0]
    say(c_1={"health": "Healthy", "sync": "Synced"})
    report = world.run(*waves, **asked, resume="")
    assert ([wave.state for wave in report.waves], report.exit_code) == (["published", "published"], 0)
    assert [world.commits(name) for name in world.names] == [1, 1]


@pytest.mark.requirement("FC10")
def test_later_waves_are_compiled_ahead(tmp_path: Path) -> None:
    """They are judged in their turn; a run that ends before has compiled them, and nothing else."""
    world = FleetWorld(tmp_path, 2)
    waves = (Wave("canary", Match(ids=("c-1",))), Wave("rest", manual=True))

    def look(wave: Wave, report: FleetReport) -> bool:
        del report
        return bool(
            wait_until(lambda: {"c-1", "c-2"} == {e.cluster for e in world.events if isinstance(e, ClusterEnded)})
        )

    report = world.run(*waves, ahead=True, workers=1, ask=look)
    assert [wave.state for wave in report.waves] == ["published", "refused"]
    assert states(report) == {"c-1": "pushed", "c-2": "changed"}
    assert world.commits("c-2") == 0


@pytest.mark.parametrize(("keep", "left"), [("nothing", []), ("state", [".commodore", "catalog"])])
def test_what_stays_of_workspaces(tmp_path: Path, keep: str, left: list[str]) -> None:
    world = FleetWorld(tmp_path, 1)
    assert states(world.run(keep=keep)) == {"c-1": "pushed"}
    folder = tmp_path / "work" / "clusters" / "c-1"
    assert sorted(path.name for path in (folder.iterdir() if folder.is_dir() else ())) == left


@pytest.mark.requirement("FC4")
def test_each_remote_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = FleetWorld(tmp_path, 3)
    world.run(push=False)
    trips = RoundTrips(tmp_path / "trips")
    for name, value in trips.environment.items():
        monkeypatch.setenv(name, value)
    world.run(push=False)
    common = ("app", "defaults", "tenant")
    assert {name: trips.by_remote[name] for name in common} == dict.fromkeys(common, 1)


LOADING = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "kapitan.errors":
            with open(os.environ["PYTHON_LOADED"], "a") as file:
                file.write("x")
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.requirement("FC4")
def test_kapitan_is_loaded_once(tmp_path: Path) -> None:
    """By the process from which all workers come, whatever clusters they work for."""
    world = FleetWorld(tmp_path / "world", 3)
    world.world.publish()
    (tmp_path / "sitecustomize.py").write_text(LOADING)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    loaded = tmp_path / "loaded"
    running = Running(world.command("--workers", "2"), world.root, {"PYTHONPATH": path, "PYTHON_LOADED": str(loaded)})
    done = running.finish()
    assert done.code == 0, done.stderr
    assert loaded.read_text() == "x"


@pytest.mark.requirement("FC8")
@pytest.mark.parametrize("hook", ["pre-receive", "post-receive"])
def test_a_killed_run_goes_on(tmp_path: Path, hook: str) -> None:
    """Killed in the middle of a push, before or after the remote has it: no cluster is lost or pushed twice."""
    world = FleetWorld(tmp_path, 3)
    pid = tmp_path / "pid"
    script = f'rm -f "$0"; until [ -s {pid} ]; do sleep 0.01; done; kill -9 $(cat {pid})'
    world.catalogs["c-2"].hook(hook, script)
    arguments = ("--push", "--workers", "1", "--canary", "c-2")
    running = world.start(*arguments)
    pid.write_text(f"{running.pid}\n")
    assert running.finish().code == -signal.SIGKILL
    assert [world.commits(name) for name in ("c-1", "c-3")] == [0, 0]
    done = world.cli(*arguments, "--resume", "newest", "-o", "json")
    assert done.code == 0, done.stderr
    report = json.loads(done.stdout)
    assert {item["id"]: item["state"] for item in report["clusters"]} == dict.fromkeys(world.names, "pushed")
    assert [world.commits(name) for name in world.names] == [1, 1, 1]
    head = world.catalogs["c-2"].sha()
    assert next(item["commit"] for item in report["clusters"] if item["id"] == "c-2") == head


@pytest.mark.requirement("FC3")
def test_a_workspace_that_another_run_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cluster fails, and no other."""
    world = FleetWorld(tmp_path, 2)
    monkeypatch.setattr(many_clusters, "LIMITS", Limits(fleet_lock_wait=0.0))
    with Workspace.at(tmp_path / "work" / "clusters" / "c-1").locked(Limits()):
        report = world.run(push=False)
    assert (states(report), codes(report)) == ({"c-1": "failed", "c-2": "changed"}, {"c-1": "CMD-WORK-002"})


@pytest.mark.requirement("FC8")
def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Ctrl-C ends everything that runs, and leaves a report."""
    world = FleetWorld(tmp_path, 2)
    running = world.start("--push")
    assert running.wait_for("compiling")
    running.signal_group(signal.SIGINT)
    assert running.finish().code == 130
    assert running.orphans() == []
    [report] = (tmp_path / "work" / "fleet" / "runs").glob("*/report.json")
    assert [wave["state"] for wave in json.loads(report.read_text())["waves"]] == ["interrupted"]
    assert world.cli("--push", "--resume", "newest").code == 0
    assert [world.commits(name) for name in world.names] == [1, 1]


@pytest.mark.requirement("FC3")
def test_a_bug_that_one_cluster_meets(tmp_path: Path) -> None:
    class Broken(FileFleet):
        def load(self, cluster: str, context: Context) -> Cluster:
            return super().load(cluster if cluster == "c-1" else "none", context)

    world = FleetWorld(tmp_path, 2)
    content = read_cluster_file(world.cluster_file(), make_context())
    report = world.run_with(Broken([content], {}), push=False)
    assert (states(report), codes(report)) == ({"c-1": "changed", "c-2": "failed"}, {"c-2": "CMD-FLT-119"})
    assert report.exit_code == 70


@pytest.mark.requirement("FC8")
@pytest.mark.parametrize(("sound", "begun"), [("", 3), ("c-3", 5)])
def test_a_machine_that_lacks_something_begins_no_more(tmp_path: Path, sound: str, begun: int) -> None:
    """Three clusters in a row fail as its disk is full; one that is compiled in between shows that it is not."""

    class Full(FileFleet):
        def load(self, cluster: str, context: Context) -> Cluster:
            if cluster != sound:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "work"))
            return super().load(cluster, context)

    world = FleetWorld(tmp_path, 5)
    source = Full([read_cluster_file(world.cluster_file(), make_context())], {})
    report = world.run_with(source, push=False, workers=1)
    assert sum(state != "not-begun" for state in states(report).values()) == begun
    assert set(codes(report).values()) == {"CMD-WORK-003"}
    assert report.exit_code == 3
    [wave] = report.waves
    assert ("in a row" in wave.reason) == (not sound)
    if not sound:
        assert (wave.state, find_run(tmp_path / "work" / "fleet", report.run).is_unfinished) == ("failed", True)


@pytest.mark.requirement("FC14")
def test_credentials_are_written_down_nowhere(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 1)
    text = world.cluster_file().read_text().replace(world.catalogs["c-1"].url, "http://me:hush-hush@127.0.0.1:1/c.git")
    (tmp_path / "secret.json").write_text(text)
    content = read_cluster_file(tmp_path / "secret.json", make_context())
    report = world.run_with(FileFleet([content], {}))
    assert states(report) == {"c-1": "failed"}
    written = [path for path in (tmp_path / "work" / "fleet").rglob("*") if path.is_file()]
    assert {"journal.jsonl", "plan.json", "report.json", "c-1.jsonl"} <= {path.name for path in written}
    assert "127.0.0.1:1" in report.folder.joinpath("report.json").read_text() if report.folder else False
    assert not any("hush-hush" in text for text in (*(path.read_text() for path in written), repr(world.events)))


@pytest.mark.requirement("FC8")
def test_a_cluster_that_takes_too_long(tmp_path: Path) -> None:
    report = FleetWorld(tmp_path, 1).run(timeout=0.0, retries=3)
    assert (states(report), codes(report)) == ({"c-1": "timeout"}, {"c-1": "CMD-FLT-109"})
    assert [cluster.attempts for cluster in report.clusters] == [1]


@pytest.mark.requirement("FC8")
def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 2)
    wave = Wave("prod", manual=True)
    world.run(wave)
    with pytest.raises(PolicyError) as error:
        world.run(wave, resume="", approved=frozenset({"prod"}), push=False)
    assert error.value.code == "CMD-FLT-111"
    assert "started with other values of --push" in error.value.message
    with pytest.raises(PolicyError) as error:
        world.run(Wave("prod"), resume="")
    assert "started with other options: --waves, --canary or --max-failures" in error.value.message
    world.names.remove("c-2")
    with pytest.raises(PolicyError) as error:
        world.run(wave, resume="")
    assert "started with other clusters: with c-2" in error.value.message


@pytest.mark.requirement("FC8")
def test_a_run_with_a_failed_wave_goes_on_after_the_repair(tmp_path: Path) -> None:
    """A refusal by the rules of a server is not a reason to try again at once, but later. What is pushed stays."""
    world = FleetWorld(tmp_path, 2)
    tried = tmp_path / "tried"
    world.catalogs["c-2"].hook("pre-receive", f"echo x >> {tried}; echo 'not on Fridays' >&2; exit 1")
    failed = world.run(Wave("one"), retries=2)
    assert states(failed) == {"c-1": "pushed", "c-2": "failed"}
    assert (codes(failed), failed.waves[0].state) == ({"c-2": "CMD-CAT-013"}, "failed")
    assert tried.read_text().splitlines() == ["x"]
    assert attempts_told(world) == []
    (world.catalogs["c-2"].path / "hooks" / "pre-receive").unlink()
    report = world.run(Wave("one"), resume="")
    assert (report.run, states(report)) == (failed.run, {"c-1": "pushed", "c-2": "pushed"})
    assert report.waves[0].state == "published"
    assert [world.commits(name) for name in world.names] == [1, 1]
    with pytest.raises(InputError) as error:
        world.run(Wave("one"), resume="")
    assert (error.value.code, "(finished)" in error.value.hint) == ("CMD-FLT-115", True)


@pytest.mark.requirement("FC8", "FC13")
def test_environments_are_tried_again(tmp_path: Path) -> None:
    """Another attempt asks the remote again; wrong input is wrong at once."""
    world = FleetWorld(tmp_path, 2)
    break_cluster(world, "c-1")
    world.catalogs["c-2"].vanish()
    report = world.run(retries=2)
    assert [cluster.attempts for cluster in report.clusters] == [1, 3]
    assert report.exit_code == 3
    assert attempts_told(world) == ["attempt 2 of 3 in 0 s", "attempt 3 of 3 in 0 s"]
