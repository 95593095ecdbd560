"""`commodore doctor --switch`: what a cluster that syn-commodore compiles needs repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld

SHARED = """
parameters:
  kapitan:
    compile:
      - input_paths: ["${_base_directory}/component/main.jsonnet"]
        input_type: jsonnet
        output_path: shared
  commodore:
    postprocess:
      filters:
        - {type: builtin, filter: helm-namespace, path: shared, filterargs: {namespace: x}}
"""


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    return ClusterWorld(tmp_path)


def test_everything_is_told_in_one_run(world: ClusterWorld) -> None:
    """What would stop a compile, by code, with the components; `~c` above `c` is not deployed, as there."""
    for name in ("a", "b"):
        world.component(name, {f"class/{name}.yml": SHARED}, data={"from": name})
    world.component("c", data={"from": "c"})
    world.applications = ["~c", "a", "b"]
    world.tenant_applications.append("c")
    assert world.compile().code == 1
    file = world.command()[world.command().index("--cluster-file") + 1]
    result = world.run("doctor", "--switch", world.name, "--cluster-file", file, "-o", "json")
    assert result.code == 1
    repairs = json.loads(result.stdout)["repairs"]
    assert [one["code"] for one in repairs] == ["CMD-INV-007", "CMD-ENG-041", "CMD-ENG-041", "CMD-CAT-001"]
    assert "'c' in `applications` comes after its removal" in repairs[0]["message"]
    assert {repairs[1]["message"].split(",")[0], repairs[2]["message"].split(",")[0]} == {
        "instance 'a'",
        "instance 'b'",
    }
    assert "a, b write 'shared/config.yaml'" in repairs[3]["message"]
    assert all(one["effect"] and one["repair"] for one in repairs)
