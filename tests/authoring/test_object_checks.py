"""Checks of rendered objects."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from commodore.authoring.object_checks import check_objects, check_references
from commodore.base.kubernetes.facts import NAMESPACED, REMOVED
from commodore.base.yaml import dump, dump_stream
from tests.authoring.suite_world import write
from tests.world.context import make_context


def thing(version: str, kind: str, name: str = "demo", namespace: str = "") -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **place}, "spec": {"kind": "x", "a": "---"}}


def codes(tree: dict[str, str]) -> list[str]:
    return [finding.code for finding in check_objects({path: text.encode() for path, text in tree.items()})]


def test_sound_output_has_no_findings() -> None:
    objects = [
        thing("v1", "ConfigMap", namespace="a"),
        thing("v1", "ConfigMap", namespace="b"),
        thing("v1", "Secret", namespace="a"),
        thing("v1", "Namespace"),
        thing("rbac.authorization.k8s.io/v1", "ClusterRole"),
        thing("example.com/v1", "Secret"),  # a custom resource
        thing("networking.k8s.io/v1", "Ingress", namespace="a"),
    ]
    assert (
        codes({"a.yaml": dump_stream(objects), "b.txt": "kind: Secret", "c.yaml": "", "d.yaml": "{", "e.json": "[]"})
        == []
    )


@pytest.mark.parametrize("form", ["block", "json", "list", "comment"])
def test_twice_the_same_object(form: str) -> None:
    """The API's version is not part of an object's identity."""
    first, other = thing("example.com/v1", "Thing"), thing("example.com/v1beta1", "Thing")
    texts = {
        "block": dump(first) + "---\n" + dump(other),
        "json": '{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "demo"}}\n---\n' + dump(first),
        "list": dump({"apiVersion": "v1", "kind": "List", "items": [first, other]}),
        "comment": f"# kind: x\n---\n# y\n{dump(first)}--- # z\n{dump(other)}",
    }
    assert codes({"a.yaml": texts[form]}) == ["CMD-TEST-020"]


def test_the_places_of_a_duplicate_are_told() -> None:
    text = dump(thing("example.com/v1", "Thing", namespace="ns")).encode()
    (finding,) = check_objects({"a.yaml": text, "b/c.yaml": text})
    assert finding.message == "Thing.example.com ns/demo is rendered twice, in a.yaml and in b/c.yaml"


def test_names_that_the_server_makes_are_no_duplicates() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "a-", "namespace": "ns"}}
    assert codes({"a.yaml": dump_stream([job, job])}) == []


@pytest.mark.parametrize(("group", "kind"), sorted(NAMESPACED))
def test_namespaced_kinds_need_a_namespace(group: str, kind: str) -> None:
    version = f"{group}/v1" if group else "v1"
    assert codes({"a.yaml": dump(thing(version, kind))}) == ["CMD-TEST-021"]
    assert codes({"a.yaml": dump(thing(version, kind, namespace="ns"))}) == []


@pytest.mark.parametrize(("version", "kind"), sorted(REMOVED))
def test_removed_versions_are_told(version: str, kind: str) -> None:
    removal = REMOVED[version, kind]
    (finding,) = check_objects({"a.yaml": dump(thing(version, kind, namespace="ns")).encode()})
    assert finding.code == "CMD-TEST-022"
    assert f"Kubernetes {removal.removed_in}" in finding.message
    assert removal.successor in finding.hint
    if removal.successor:
        assert codes({"a.yaml": dump(thing(removal.successor, kind, namespace="ns"))}) == []


def references(own: Any, output: str, folder: Path, **others: Any) -> list[str]:
    write(folder, {"demo/a.yaml": output})
    tree = {"demo/a.yaml": output.encode()}
    diagnostics = check_references({"demo": own, **others}, "instance", "demo", folder, tree, make_context())
    return [finding.code for finding in diagnostics]


def test_references_that_arrive(tmp_path: Path) -> None:
    own = {"password": "?{vaultkv:t/c/db/password}", "list": ["x ?{vaultkv:t/c/db/user} y"]}
    assert references(own, "a: t/c/db/password\nb: '?{vaultkv:t/c/db/user}'\n", tmp_path) == []


def test_references_that_got_lost(tmp_path: Path) -> None:
    """Only the component's own parameters count, and each secret once."""
    own = {"password": "?{vaultkv:t/c/db/password}", "again": "?{vaultkv:t/c/db/password}"}
    assert references(own, "a: b\n", tmp_path, other={"x": "?{vaultkv:a/b}"}) == ["CMD-TEST-023"]


@pytest.mark.parametrize("prefix", ["", "x", "xy", "xyz"])
def test_references_that_only_arrive_encoded(prefix: str, tmp_path: Path) -> None:
    """Nothing reveals them: that is reported, and not that they are lost."""
    tag = "?{vaultkv:t/c/db/password}"
    encoded = base64.b64encode(f"{prefix}{tag}".encode()).decode()
    assert references({"password": tag}, f"data: {encoded}\n", tmp_path) == ["CMD-REF-013"]


def test_malformed_references_are_told(tmp_path: Path) -> None:
    assert references({"a": "?{vaultkv:nokey}", "b": "?{gpg:a/b}"}, "", tmp_path) == ["CMD-REF-001", "CMD-REF-002"]
