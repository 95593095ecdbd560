"""The summary at the end of `catalog compile`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from commodore.cli.shell.compile_summary import StageTimes
from tests.world.cluster import ClusterWorld

DEPLOYMENT = """
{
  web: {
    apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' },
    spec: { replicas: (import 'lib/kapitan.libjsonnet').inventory().parameters.app.data.replicas },
  },
}
"""


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", files={"component/main.jsonnet": DEPLOYMENT}, data={"replicas": 2})
    made.component("other", data={"a": "1"})
    made.environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert made.compile("--push").code == 0
    made.tenant_parameters = {"app": {"data": {"replicas": 0}}}
    made.publish()
    return made


def test_for_people(world: ClusterWorld) -> None:
    result = world.compile("--diff", "stat")
    assert result.code == 0
    lines = [event["message"] for event in result.events if event["event"] == "Status"]
    assert "Instances: 1 rendered, 1 from the cache" in lines
    assert "Files:     1 modified" in lines
    assert re.fullmatch(r"Time:      \d+\.\d s(: .*)?", lines[lines.index("Dangers:   1 scaled-to-zero") + 2])
    assert "Objects:   0 added, 1 changed, 0 removed" in lines
    assert "Dangers:   1 scaled-to-zero" in lines
    assert result.stdout == ""
    shown = world.run("-d", str(world.work), "catalog", "compile", world.name, "--local", "--diff", "none").stderr
    assert "\nInstances: 0 rendered, 2 from the cache\nFiles:     1 modified\n" in shown
    assert "Objects:" not in shown


def test_for_programs(world: ClusterWorld) -> None:
    result = world.compile("-o", "json")
    assert result.code == 0
    loads = json.loads(result.stdout)
    assert loads["cluster"] == world.name
    assert (loads["changed"], loads["pushed"], loads["commit"]) == (True, False, None)
    assert loads["instances"] == {"rendered": 1, "reused": 1, "remote": 0}
    assert loads["objects"] == {"added": 0, "changed": 1, "removed": 0, "moved": 0}
    assert loads["flags"] == {"scaled-to-zero": 1}
    assert loads["files"]["modified"] == 1
    assert "compiling" in [load["name"] for load in loads["stages"]]
    assert json.loads(world.compile("-o", "json", "--diff", "none").stdout)["objects"] is None


def test_nothing_new(world: ClusterWorld) -> None:
    assert world.compile("--push").code == 0
    result = world.compile("-o", "json")
    loads = json.loads(result.stdout)
    assert loads["changed"] is False
    assert loads["objects"] == {"added": 0, "changed": 0, "removed": 0, "moved": 0}
    assert loads["instances"] == {"rendered": 0, "reused": 2, "remote": 0}


def test_objects_of_a_first_compile(tmp_path: Path) -> None:
    world = ClusterWorld(tmp_path)
    world.component("app", data={"a": "1"})
    loads = json.loads(world.compile("-o", "json").stdout)
    assert loads["objects"]["added"] == 1


def test_times_fit_a_line() -> None:
    times = StageTimes()
    times.seconds = {"compiling": 2.0, "fetching configuration": 3.0, "fetching components": 1.0, "rendering": 0.01}
    told = times.text(100)
    assert told.endswith(" s: fetching configuration 3.0 s, compiling 2.0 s, fetching components 1.0 s")
    assert times.text(len(told) - 1) == told.removesuffix(", fetching components 1.0 s")
    assert ":" not in times.text(10)


def test_the_time_at_the_end_is_that_of_the_whole_compile() -> None:
    """Also if nothing is rendered, and without the time that a user takes to answer."""
    now = [10.0]
    times = StageTimes(lambda: now[0])
    now[0] += 1.5
    assert times.text(0) == "1.5 s"
    with times.left_out():
        now[0] += 60
    now[0] += 0.5
    assert times.text(0) == "2.0 s"


def test_dependencies_that_have_moved(world: ClusterWorld) -> None:
    """Since the catalog's last commit, in a new working directory, too."""
    shutil.rmtree(world.work)
    before = world.remotes["other"].sha()
    after = world.remotes["other"].commit({"README.md": "New."})
    world.remotes["other"].tag("v2")
    world.descriptions["other"]["version"] = "v2"
    result = world.compile("--diff", "none")
    lines = [event["message"] for event in result.events if event["event"] == "Status"]
    first = lines.index(f"Moved:     component other from master ({before[:6]}) to v2 ({after[:6]})")
    assert re.fullmatch(r" {11}configuration global from master \(\w{6}\) to master \(\w{6}\)", lines[first + 1])
    assert re.fullmatch(r" {11}configuration tenant from master \(\w{6}\) to master \(\w{6}\)", lines[first + 2])
    assert lines[first + 3].startswith("Time:      ")
    moves = json.loads(world.compile("-o", "json").stdout)["moves"]
    assert moves[0] == {
        "kind": "component",
        "name": "other",
        "before": f"master ({before[:6]})",
        "after": f"v2 ({after[:6]})",
    }
    assert world.compile("--push").code == 0
    assert json.loads(world.compile("-o", "json").stdout)["moves"] == []


def test_each_instance_with_its_time_and_source(world: ClusterWorld) -> None:
    facts = str(world.cluster_file())
    shown = world.run("-v", "-d", str(world.work), "catalog", "compile", world.name, "--cluster-file", facts).stderr
    assert re.search(r"^  app: rendered \(\d+\.\d\d s\)$", shown, re.MULTILINE), shown
    assert "\n  other: from the cache\n" in shown
