"""`commodore catalog sbom`: a document that CycloneDX takes, with everything that a catalog was made from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import cyclonedx
import pytest
from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from tests.world.cluster import ClusterWorld

Call = Callable[..., tuple[int, str, str]]

MAIN = """
{
  pod: {
    apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' },
    spec: { containers: [{ name: 'c', image: 'quay.io/Own/app:1@sha256:%s' }, { name: 'd', image: 'nginx' }] },
  },
}
"""
DIGEST = "ab" * 32
SCHEMAS = Path(cyclonedx.__file__).parent / "schema" / "_res"


def validator() -> Draft7Validator:
    """The official schema of version 1.6 with the ones that it refers to."""
    schemas = {path.name: json.loads(path.read_bytes()) for path in SCHEMAS.glob("*.schema.json")}
    resources = [(schema.get("$id", name), Resource(schema, DRAFT7)) for name, schema in schemas.items()]
    return Draft7Validator(schemas["bom-1.6.SNAPSHOT.schema.json"], registry=Registry().with_resources(resources))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ClusterWorld:
    world = ClusterWorld(tmp_path_factory.mktemp("world"))
    world.component("app", files={"component/main.jsonnet": MAIN % DIGEST})
    assert world.compile().code == 0
    return world


def test_it_is_cyclonedx(call: Call, world: ClusterWorld) -> None:
    code, out, err = call("-d", str(world.work), "catalog", "sbom")
    assert (code, err) == (0, "")
    assert [error.message for error in validator().iter_errors(json.loads(out))] == []
    assert not validator().is_valid(json.loads(out.replace('"container"', '"kettle"')))
    assert call("-d", str(world.work), "catalog", "sbom")[1] == out


def test_it_names_components_images_and_tools(call: Call, world: ClusterWorld) -> None:
    loads = json.loads(call("-d", str(world.work), "catalog", "sbom")[1])
    parts = {part["name"]: part for part in loads["components"]}
    commit = world.remotes["app"].sha("master")
    assert parts["app"]["version"] == "master"
    assert sorted(parts) == ["app", "docker.io/library/nginx", "quay.io/Own/app"]
    assert {"name": "commodore:commit", "value": commit} in parts["app"]["properties"]
    assert commit in parts["app"]["purl"]
    image = parts["quay.io/Own/app"]
    assert image["purl"] == f"pkg:oci/app@sha256%3A{DIGEST}?repository_url=quay.io%2FOwn%2Fapp&tag=1"
    assert parts["docker.io/library/nginx"]["purl"] == "pkg:docker/library/nginx?repository_url=docker.io"
    assert {"name": "commodore:instance", "value": "app"} in image["properties"]
    assert {tool["name"] for tool in loads["metadata"]["tools"]["components"]} >= {"commodore-catalog", "kapitan"}
    refs = {part["bom-ref"] for part in loads["components"]}
    assert refs == set(loads["dependencies"][0]["dependsOn"])


def test_jsonnet_libraries(call: Call, world: ClusterWorld) -> None:
    lock = world.work / "jsonnetfile.lock.json"
    before = lock.read_bytes() if lock.exists() else None
    source = {"git": {"remote": "https://me:secret@example.com/libs.git", "subdir": "deep/lib"}}
    lock.write_text(json.dumps({"version": 1, "dependencies": [{"source": source, "version": "c0ffee", "sum": ""}]}))
    loads = json.loads(call("-d", str(world.work), "catalog", "sbom")[1])
    (library,) = [part for part in loads["components"] if part["type"] == "library"]
    assert (library["name"], library["version"]) == ("lib", "c0ffee")
    assert "secret" not in json.dumps(loads)
    lock.write_text("[")
    assert call("-d", str(world.work), "catalog", "sbom")[0] == 1
    lock.unlink()
    if before is not None:
        lock.write_bytes(before)


def test_without_a_compile(call: Call, world: ClusterWorld) -> None:
    assert call("-d", str(world.root), "catalog", "sbom")[0] == 1
