"""`commodore doctor --switch`: what a cluster that syn-commodore compiles needs repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld, Result

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
    """Errors that would stop a compile, by code, with the components; `~c` above `c` is not deployed, as there."""
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
    assert [repair["code"] for repair in repairs] == ["CMD-INV-007", "CMD-ENG-041", "CMD-ENG-041", "CMD-CAT-001"]
    assert "'c' in `applications` comes after its removal" in repairs[0]["message"]
    assert {repairs[1]["message"].split(",")[0], repairs[2]["message"].split(",")[0]} == {
        "instance 'a'",
        "instance 'b'",
    }
    assert "a, b write 'shared/config.yaml'" in repairs[3]["message"]
    assert all(repair["effect"] and repair["repair"] for repair in repairs)


def test_a_cluster_of_the_api(world: ClusterWorld) -> None:
    """As text, at a cluster that the API knows: nothing is pushed or reported, and repaired errors are not shown any
    more.
    """
    filters = [{"type": "builtin", "filter": "helm_namespace", "path": "gone", "filterargs": {"namespace": "x"}}]
    world.component("a", data={"from": "a"})
    world.tenant_parameters = {"commodore": {"postprocess": {"filters": filters}}}
    world.publish()
    with world.lieutenant(token="opaque") as api:

        def examine(*more: str, cluster: str = world.name, token: str = "opaque") -> Result:
            given = ("--api-url", api.url, "--api-token", token)
            return world.run("-d", str(world.work), "doctor", "--switch", cluster, *given, *more)

        result = examine()
        assert result.code == 1
        (told,) = [line for line in result.stdout.splitlines() if not line.startswith("  ")]
        assert told.startswith("CMD-ENG-")
        assert "instance 'a'" in told
        assert "'gone'" in told
        assert "  until then: " in result.stdout
        assert "  repair: " in result.stdout
        code = told.split(" ")[0]
        assert result.stderr.endswith(f"1 to repair. It compiles with --allow {code}.\n")
        assert world.local_tree().keys() == {"manifests/a/config.yaml"}
        assert [(request.method, request.path) for request in api.requests] == [
            ("GET", "/clusters/c-one"),
            ("GET", "/tenants/t-one"),
        ]
        world.tenant_parameters = {}
        world.publish()
        result = examine("-o", "json")
        assert (result.code, json.loads(result.stdout)["repairs"]) == (0, [])
        assert result.stderr.endswith("Nothing needs repair: c-one compiles as it is.\n")
        assert world.tree() == {}
        assert api.reports == []
        unknown = examine(cluster="c-two")
        assert (unknown.code, unknown.stdout) == (1, "")
        assert "[CMD-API-" in unknown.stderr
        refused = examine(token="other")
        assert (refused.code, refused.stdout) == (1, "")
        assert "[CMD-API-" in refused.stderr
