"""Objects that the API server reads as equal are compared as equal."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from commodore.argocd.comparing.canonical import canonical
from tests.argocd.comparing.conftest import Trees, app


def pod(amount: object, size: object) -> dict[str, Any]:
    environment = [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": amount}}}]
    resources = {"limits": {"cpu": amount}, "requests": {"memory": size}}
    return {
        "containers": [{"name": "a", "resources": resources, "env": environment, "args": ["1000m"]}],
        "initContainers": [{"name": "b", "resources": resources}, {"name": "c"}],
        "nodeSelector": {"storage": "1024Mi"},
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": size}}, {"name": "w", "emptyDir": {}}],
    }


def built_in(amount: object, size: object) -> list[dict[str, Any]]:
    claim = {"resources": {"requests": {"storage": size}}}
    target = {"resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": amount}}}
    template = {"template": {"metadata": {"annotations": {"a": "1000m"}}, "spec": pod(amount, size)}}
    fields = {
        "v1/Pod": pod(amount, size),
        "apps/v1/Deployment": template,
        "apps/v1/StatefulSet": {**template, "volumeClaimTemplates": [{"spec": claim}]},
        "batch/v1/CronJob": {"jobTemplate": {"spec": template}},
        "v1/PersistentVolumeClaim": claim,
        "v1/PersistentVolume": {"capacity": {"storage": size}},
        "v1/ResourceQuota": {"hard": {"limits.cpu": amount}},
        "v1/LimitRange": {"limits": [{"type": "Container", "max": {"cpu": amount}}]},
        "autoscaling/v2/HorizontalPodAutoscaler": {"metrics": [target]},
    }
    return [
        {"apiVersion": name.rpartition("/")[0], "kind": name.rpartition("/")[2], "spec": spec}
        for name, spec in fields.items()
    ]


@pytest.mark.requirement("D56")
def test_amounts_of_built_in_kinds_compare_by_value() -> None:
    for first, other, third in zip(built_in("1000m", "1024Mi"), built_in(1, "1Gi"), built_in(2, "2Gi"), strict=True):
        written = copy.deepcopy(first)
        assert canonical(first) == canonical(other) != canonical(third), first["kind"]
        assert first == written


@pytest.mark.requirement("D56")
def test_endpoints_have_no_order() -> None:
    def endpoints(*addresses: str, **port: Any) -> dict[str, Any]:
        subset = {"addresses": [{"ip": address} for address in addresses], "ports": [{"port": 80, **port}]}
        return canonical({"apiVersion": "v1", "kind": "Endpoints", "subsets": [subset]})

    assert endpoints("10.0.0.1", "10.0.0.2") == endpoints("10.0.0.2", "10.0.0.1", protocol="TCP")
    assert endpoints("10.0.0.1") != endpoints("10.0.0.1", protocol="UDP")


@pytest.mark.parametrize(
    ("version", "kind", "field"),
    [("v1", "ConfigMap", "data"), ("example.com/v1", "Pod", "spec"), ("apps/v1", "Deployment", "metadata")],
)
def test_other_texts_stay(version: str, kind: str, field: str) -> None:
    content = {"storage": "1024Mi", "annotations": {"cpu": "1000m"}, **pod("1000m", "1024Mi")}
    data = {"apiVersion": version, "kind": kind, field: content}
    assert canonical(data) == data


@pytest.mark.tools
@pytest.mark.requirement("D56")
def test_a_change_of_how_an_amount_is_written_is_none(trees: Trees) -> None:
    for side, limit in (("base", "1000m"), ("target", "1")):
        value = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": pod(limit, "1Gi")}
        trees.write({"apps.json": app("one", "one"), "one/a.json": json.dumps(value)}, side)
    assert trees.states() == {"one": "unchanged"}
