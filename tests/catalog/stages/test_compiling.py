"""From the hierarchy to manifests, over whole clusters."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from commodore.core.results.caches import cache_folder
from tests.world.cluster import ClusterWorld
from tests.world.folders import open_places
from tests.world.repos import Script

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "templates/config.yaml": "kind: ConfigMap\nmetadata: {name: chart}\n",
}


@pytest.mark.requirement("C56")
def test_meta_parameters_and_every_input(world: ClusterWorld) -> None:
    """One target per instance, with the meta-parameters of commodore; scripts of a component can be run."""
    entries = [
        {
            "input_paths": ["${_base_directory}/component/main.jsonnet"],
            "input_type": "jsonnet",
            "output_path": "${_instance}/",
        },
        {"input_paths": ["${_base_directory}/files/plain.yaml"], "input_type": "copy", "output_path": "${_instance}/"},
    ]
    meta = ["_instance", "_base_directory", "_kustomize_wrapper", "_python3"]
    world.component(
        "app",
        {
            "class/app.yml": yaml.safe_dump({"parameters": {"kapitan": {"compile": entries}}}),
            "component/main.jsonnet": "local p = (import 'lib/kapitan.libjsonnet').inventory().parameters;"
            "{ meta: { [name]: p[name] for name in " + str(meta) + " } + { target: p.kapitan.vars.target } }",
            "files/plain.yaml": "a: b\n",
            "files/run": Script("#!/bin/sh\n"),
        },
        metadata={"multi_instance": True},
        include="app as other",
    )
    world.applications.append("app")
    result = world.compile("--processes", "2")
    assert result.code == 0, result.stderr
    manifest = world.manifest("other/meta.yaml")
    assert manifest["_instance"] == manifest["target"] == "other"
    assert manifest["_base_directory"] == str(world.work / "dependencies" / "other")
    assert os.access(manifest["_kustomize_wrapper"], os.X_OK)
    assert os.access(manifest["_python3"], os.X_OK)
    assert world.manifest("app/plain.yaml") == {"a": "b"}
    assert sorted(path.name for path in (world.work / "compiled").iterdir()) == ["app", "other"]


@pytest.mark.requirement("C57")
def test_kapitan_fetches_charts(world: ClusterWorld) -> None:
    """Entries of `kapitan.dependencies` are fetched, and stay usable without fetching."""
    chart = world.git.remote("chart", CHART)
    dependency = {
        "type": "git",
        "source": chart.url,
        "output_path": "dependencies/app/fetched/web",
        "ref": "master",
    }
    copy = {"input_type": "copy", "input_paths": ["dependencies/app/fetched/web/templates"], "output_path": "app/"}
    kapitan = {"dependencies": [dependency], "compile": [copy]}
    world.component("app", {"class/app.yml": yaml.safe_dump({"parameters": {"kapitan": kapitan}})})
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["metadata"] == {"name": "chart"}
    chart.vanish()
    result = world.compile("--local", "-F")
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["metadata"] == {"name": "chart"}


@pytest.mark.requirement("C59", "C60", "C61", "C62")
def test_filters_of_a_component(world: ClusterWorld) -> None:
    """A jsonnet filter of the component changes its output before it reaches the catalog."""
    world.component(
        "app",
        {
            "postprocess/label.jsonnet": "local com = import 'lib/commodore.libjsonnet';"
            "com.fixupDir(std.extVar('output_path'), function(o) o { metadata+: { labels: { filtered: 'yes' } } })"
        },
        metadata={"multi_instance": True},
    )
    world.applications.append("app as plain")
    instance_filter = {"type": "jsonnet", "path": "${_instance}", "filter": "postprocess/label.jsonnet"}
    world.parameters["commodore"] = {
        "postprocess": {"filters": [{**instance_filter, "enabled": "${app:filtered}"}]},
    }
    world.parameters["app"] = {"filtered": True}
    world.parameters["plain"] = {"filtered": False}
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["metadata"]["labels"] == {"filtered": "yes"}
    assert "labels" not in world.manifest("plain/config.yaml")["metadata"]


def test_a_component_without_compile_entries(world: ClusterWorld) -> None:
    """It is deployed without manifests, or refused in words; never with a traceback."""
    world.component("empty", {"class/empty.yml": "parameters: {}\n"})
    world.component("app")
    result = world.compile("--push")
    assert (result.code, result.errors) == (0, []), result.stderr
    assert sorted(world.tree()) == ["manifests/app/config.yaml"]


def test_the_same_bytes_wherever_and_however(world: ClusterWorld, tmp_path: Path) -> None:
    """Neither hash seed, time zone, locale, umask, current directory nor number of processes change the catalog."""
    world.component("b", data={"ä": "ö", "n": "line\nline\n"})
    world.component("a", metadata={"multi_instance": True})
    world.applications += ["a as z", "a as y"]
    assert world.compile("--push").code == 0
    first = world.catalog.sha()
    place = tmp_path / "elsewhere"
    place.mkdir()
    world.work, world.apart = place / "work", True
    world.environment = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "LANG": "C"}
    mask = os.umask(0o077)
    try:
        result = world.compile("--push", "--processes", "3")
    finally:
        os.umask(mask)
    assert result.code == 0, result.stderr
    assert world.catalog.sha() == first
    assert open_places(cache_folder()) == []
