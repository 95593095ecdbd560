"""`commodore catalog validate`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.kubernetes.schemas import crd_schemas
from tests.world.cluster import ROOT

Call = Callable[..., tuple[int, str, str]]

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1},
                                    "port": {
                                        "x-kubernetes-int-or-string": True,
                                        "anyOf": [{"type": "integer"}, {"type": "string"}],
                                    },
                                    "mode": {"type": "string", "enum": ["a", "b"]},
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


def thing(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}


def core(version: str, kind: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **rest}


def validate(call: Call, folder: Path, *objects: Any, words: tuple[str, ...] = ("--kube-version", "1.34")) -> Any:
    """The rules that are broken, and the answer."""
    (folder / "manifests" / "one").mkdir(parents=True, exist_ok=True)
    for number, value in enumerate(objects):
        (folder / "manifests" / "one" / f"{number}.json").write_text(json.dumps(value))
    code, out, err = call("catalog", "validate", str(folder), "-o", "json", *words)
    assert err == ""
    loads = json.loads(out)
    assert code == any(load["severity"] == "error" for load in loads["problems"])
    return [load["rule"] for load in loads["problems"]], loads


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        (core("v1", "ConfigMap", data={"a": "1"}), []),
        (core("v1", "ConfigMap", data={"a": 1}), ["schema"]),
        (core("v1", "ConfigMap", dota={}), ["schema"]),
        (core("apps/v1", "Deployment", spec={"replicas": "2"}), ["schema"] * 3),
        (core("v1", "Service", spec={"ports": [{"port": 80, "targetPort": "http"}]}), []),
        (core("policy/v1beta1", "PodSecurityPolicy"), ["unknown-api"]),
        (core("extensions/v1beta1", "Ingress"), ["unknown-api"]),
        (core("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema"), ["removed-api"]),
        (core("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema"), ["removed-api"]),
        (core("example.com/v1", "Other"), []),
    ],
)
def test_kinds_of_kubernetes(call: Call, tmp_path: Path, content: Any, rules: list[str]) -> None:
    assert validate(call, tmp_path, content)[0] == rules


def test_versions_that_a_later_kubernetes_does_not_serve(call: Call, tmp_path: Path) -> None:
    old = core("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema")
    rules, result = validate(call, tmp_path, old, words=("--kube-version", "v1.30.4"))
    assert rules == ["deprecated-api"]
    assert "Kubernetes 1.32 does not serve" in result["problems"][0]["message"]
    assert call("catalog", "validate", str(tmp_path), "--kube-version", "1.30")[0] == 0
    assert call("catalog", "validate", str(tmp_path), "--kube-version", "1.30", "--strict")[0] == 1
    assert validate(call, tmp_path, core("resource.k8s.io/v1", "DeviceClass"), words=("--kube-version", "1.30"))[0] == [
        "unknown-api"
    ]


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        (thing(size=1, port="http", mode="a", free={"x": 1}, labels={"a": "b"}), []),
        (thing(size=1, mode=None), []),
        (thing(size=0), ["schema"]),
        (thing(size=1, mode="c"), ["schema"]),
        (thing(size=1, other=1), ["schema"]),
        (thing(), ["schema"]),
        (core("example.com/v1", "Thing"), ["schema"]),
        (core("example.com/v2", "Thing"), ["unknown-api"]),
    ],
)
def test_kinds_of_definitions_in_the_catalog(call: Call, tmp_path: Path, content: Any, rules: list[str]) -> None:
    assert validate(call, tmp_path, CRD, content)[0] == rules


def test_objects_that_are_there_twice_and_kinds_without_schema(call: Call, tmp_path: Path) -> None:
    other = core("example.com/v1", "Other")
    rules, result = validate(call, tmp_path, other, other)
    assert rules == ["duplicate"]
    assert result["without_schema"] == [
        {"kind": {"group": "example.com", "version": "v1", "kind": "Other"}, "objects": 2}
    ]
    out = call("catalog", "validate", str(tmp_path))[1]
    assert "manifests/one/1.json: error: Other.example.com x: the object is there in manifests/one/0.json, too" in out
    assert "no schema is known for 2 objects: example.com/v1 Other" in out


def test_values_are_not_repeated(call: Call, tmp_path: Path) -> None:
    rules, result = validate(call, tmp_path, core("v1", "Secret", data={"a": ["canary"]}, stringData=["canary"]))
    assert len(rules) == 2
    assert "canary" not in json.dumps(result)


def test_objects_nested_too_deeply(call: Call, tmp_path: Path) -> None:
    deep = '{"a":' * 3000 + "1" + "}" * 3000
    (tmp_path / "x.yaml").write_text(
        f'{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "x"}}, "x": {deep}}}'
    )
    code, _, err = call("catalog", "validate", str(tmp_path))
    assert "internal" not in err
    assert code in (0, 1)


def test_a_schema_that_cannot_be_used(call: Call, tmp_path: Path) -> None:
    broken = json.loads(json.dumps(CRD).replace('"enum": ["a", "b"]', '"pattern": "(("'))
    rules, _ = validate(call, tmp_path, broken, thing(size=1))
    assert rules == ["unusable-schema"]


def test_a_kubernetes_without_schemas(call: Call, tmp_path: Path) -> None:
    assert call("catalog", "validate", str(tmp_path), "--kube-version", "1.2")[0] == 2


def test_without_the_libraries(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'kubernetes_validate' else real(name, *rest)\n"
        "from commodore.cli.main import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    words = [sys.executable, "-c", code, "catalog", "validate", str(tmp_path)]
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "commodore-catalog[validate]" in done.stderr


def test_definitions_that_are_odd() -> None:
    for odd in (None, [], {}, {**CRD, "spec": None}, {**CRD, "spec": {"names": {}, "versions": [None, {"schema": 1}]}}):
        assert [schema for _, schema in crd_schemas(odd) if schema is not None] == []
