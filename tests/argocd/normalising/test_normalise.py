"""Rules that exclude fields from comparisons."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.argocd import ArgoSettings, Diagnostics
from commodore.argocd.configuration import IgnoredFields, LocatedValue, ResourceOverride
from commodore.argocd.diagnostics import STRICT
from commodore.argocd.model.application import Application, read_application
from commodore.argocd.normalising import Normaliser
from commodore.base.errors import CommodoreError, Location

Object = dict[str, Any]

DEPLOYMENT: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"a/b": "1", "c~d": "2"}},
    "spec": {"replicas": 9007199254740993, "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]},
    "status": {"replicas": 1},
}


def application(*rules: Object) -> Application:
    spec = {
        "destination": {"server": "https://kubernetes.default.svc"},
        "source": {"repoURL": "https://git.example.com/a", "path": "."},
        "ignoreDifferences": [{"group": "apps", "kind": "Deployment", **rule} for rule in rules],
    }
    return read_application({"metadata": {"name": "a"}, "spec": spec}, Location("a.yaml", 1))


def normalise(
    *rules: Object,
    data: Object = DEPLOYMENT,
    settings: ArgoSettings | None = None,
    diagnostics: Diagnostics | None = None,
) -> Object:
    with Normaliser(application(*rules), settings or ArgoSettings(), diagnostics or Diagnostics()) as normaliser:
        return normaliser.normalise(data)


@pytest.mark.requirement("D56")
@pytest.mark.parametrize(
    ("pointers", "gone"),
    [
        (["/spec/replicas"], [("spec", "replicas")]),
        (
            ["/metadata/labels/a~1b", "/metadata/labels/c~0d"],
            [("metadata", "labels", "a/b"), ("metadata", "labels", "c~d")],
        ),
        (["/spec/containers/0/image"], [("spec", "containers", 0, "image")]),
        (["/spec/containers/1"], [("spec", "containers", 1)]),
        (["/spec/none/deeper", "/spec/containers/-", "/spec/containers/9", "/spec/replicas/x"], []),
    ],
)
def test_json_pointers(pointers: list[str], gone: list[tuple[Any, ...]]) -> None:
    import copy

    expected = copy.deepcopy(DEPLOYMENT)
    del expected["status"]
    for *path, last in gone:
        parent = expected
        for step in path:
            parent = parent[step]
        del parent[last]
    assert normalise({"jsonPointers": pointers}) == expected


@pytest.mark.tools
@pytest.mark.requirement("D56")
@pytest.mark.parametrize(
    ("expression", "images", "others"),
    [
        (".spec.replicas", ["x", "y"], False),
        (".spec.containers[].image", [None, None], True),
        ('.spec.containers[] | select(.name | test("^b"))', ["x"], True),
        (".spec.containers[0,1]", [], True),
        (".spec.containers[-1]", ["x"], True),
        (".spec.containers[1:]", ["x"], True),
        (".spec.replicas, .spec.containers[0]", ["y"], False),
        (".spec.nope // .spec.replicas", ["x", "y"], False),
        ("env.HOME as $h | .spec.replicas", ["x", "y"], False),
        ("if $ENV.HOME then empty else .spec.replicas end", ["x", "y"], False),
        (".spec.nope.deeper[]?", ["x", "y"], True),
    ],
)
def test_jq_expressions(expression: str, images: list[str | None], others: bool) -> None:
    result = normalise({"jqPathExpressions": [expression]})
    assert [container.get("image") for container in result["spec"]["containers"]] == images
    assert result["spec"].get("replicas") == (9007199254740993 if others else None)


@pytest.mark.tools
@pytest.mark.parametrize(
    "expression", [".spec.replicas.foo", 'error("x")', ".metadata.name | tonumber", "{env: 1}.input"]
)
def test_expressions_that_fail_ignore_nothing(expression: str) -> None:
    diagnostics = Diagnostics()
    assert normalise({"jqPathExpressions": [expression]}, diagnostics=diagnostics)["spec"] == DEPLOYMENT["spec"]
    assert [diagnostic.code for diagnostic in diagnostics.collected()] == ["CMD-ARGO-703"]


@pytest.mark.tools
@pytest.mark.parametrize(
    "expression",
    [
        *("del(.", ".a)] | env | [(.b", ".spec | nofunction", '"', ".a # b", "import 'x' as x; .a", ".a" * 6000),
        *("input", "[inputs]", '"\\(input)"', ".spec | debug", "now as $n | .spec", "stderr"),
    ],
)
def test_expressions_that_do_not_compile(expression: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        normalise({"jqPathExpressions": [expression]})
    assert caught.value.code == "CMD-ARGO-702"


@pytest.mark.tools
@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("env.HOME as $h | .spec.replicas", True),
        ("if $ENV.HOME then empty else .spec.replicas end", True),
        (".spec | env", True),
        (".spec.containers[].env[]?", False),
        ('.spec.containers[] | select(.name == "env") | .input', False),
        ("def env: .; .spec | env", False),
    ],
)
def test_the_environment_is_empty_and_that_is_said(expression: str, reads: bool) -> None:
    diagnostics = Diagnostics()
    normalise({"jqPathExpressions": [expression]}, diagnostics=diagnostics)
    assert [diagnostic.severity for diagnostic in diagnostics.collected() if diagnostic.code == "CMD-ARGO-702"] == [
        "warning"
    ] * reads


@pytest.mark.tools
def test_expressions_that_do_not_end() -> None:
    diagnostics = Diagnostics()
    config = {"controller.ignore.normalizer.jq.timeout": LocatedValue("100ms", "option")}
    rules = {"jqPathExpressions": ["last(repeat(.spec))", ".spec.replicas"]}
    result = normalise(rules, settings=ArgoSettings(parameters=config), diagnostics=diagnostics)
    assert "replicas" not in result["spec"]
    assert [diagnostic.code for diagnostic in diagnostics.collected()] == ["CMD-ARGO-704"]


@pytest.mark.requirement("D56")
@pytest.mark.parametrize("pointer", ["spec/x", ""])
def test_an_invalid_pointer_ignores_nothing_and_stops_nothing(pointer: str) -> None:
    diagnostics = Diagnostics()
    overrides = {"apps/Deployment": ResourceOverride(IgnoredFields(pointers=(pointer, "/metadata/labels")))}
    settings = ArgoSettings(overrides=overrides)
    result = normalise({"jsonPointers": [pointer, "/spec/replicas"]}, settings=settings, diagnostics=diagnostics)
    assert list(result["spec"]) == ["containers"]
    assert result["metadata"] == {"name": "web", "namespace": "shop"}
    assert {(diagnostic.code, diagnostic.severity) for diagnostic in diagnostics.collected()} == {
        ("CMD-ARGO-701", "warning")
    }
    strict = Diagnostics(STRICT)
    strict.join(diagnostics)
    assert {diagnostic.severity for diagnostic in strict.collected()} == {"error"}


@pytest.mark.requirement("D56")
@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        ({}, True),
        ({"group": "*", "kind": "*"}, True),
        ({"group": "a?ps", "kind": "Deploy*"}, True),
        ({"group": ""}, False),
        ({"kind": "deployment"}, False),
        ({"name": "web", "namespace": "shop"}, True),
        ({"name": "we*"}, False),
        ({"namespace": "other"}, False),
    ],
)
def test_which_objects_a_rule_is_for(rule: Object, fits: bool) -> None:
    result = normalise({"jsonPointers": ["/spec"], **rule})
    assert ("spec" not in result) == fits


@pytest.mark.tools
@pytest.mark.requirement("D21", "D56")
def test_the_rules_of_an_installation() -> None:
    overrides = {
        "apps/Deployment": ResourceOverride(IgnoredFields(pointers=("/spec/replicas",))),
        "*/*": ResourceOverride(IgnoredFields(expressions=(".metadata.labels",))),
        "Deployment": ResourceOverride(IgnoredFields(pointers=("/spec/containers",))),
    }
    result = normalise(settings=ArgoSettings(overrides=overrides))
    assert result["metadata"] == {"name": "web", "namespace": "shop"}
    assert list(result["spec"]) == ["containers"]


@pytest.mark.requirement("D56")
@pytest.mark.parametrize(
    ("value", "kind", "status"),
    [("", "Deployment", False), ("all", "A", False), ("crd", "A", True), ("crd", "CustomResourceDefinition", False)]
    + [(word, "A", True) for word in ("none", "off", '"false"', "false")],
)
def test_the_status_of_objects(value: str, kind: str, status: bool) -> None:
    config = {"resource.compareoptions": LocatedValue(f"ignoreResourceStatusField: {value}", "option")}
    assert ("status" in normalise(data={**DEPLOYMENT, "kind": kind}, settings=ArgoSettings(config=config))) == status


def test_aggregated_roles() -> None:
    role = {"kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1", "rules": [], "aggregationRule": {}}
    assert "rules" in normalise(data=role)
    config = {"resource.compareoptions": LocatedValue("ignoreAggregatedRoles: true", "option")}
    assert "rules" not in normalise(data=role, settings=ArgoSettings(config=config))


@pytest.mark.requirement("D56")
def test_known_types() -> None:
    types = (("spec.size", "core/Quantity"), ("spec.items.every", "meta/v1/Duration"), ("spec.pod", "core/v1/PodSpec"))
    pod = {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1000m"}}}, {"name": "b", "env": None}]}
    items = [{"every": "90m"}, {"every": "soon"}, {}]
    data = {
        "apiVersion": "example.com/v1",
        "kind": "W",
        "spec": {"size": "1024Mi", "items": items, "pod": pod, "no": "1000m"},
    }
    diagnostics = Diagnostics()
    unknown = ResourceOverride(known_types=(*types, ("spec.x", "core/v9/Nope")))
    result = normalise(data=data, settings=ArgoSettings(overrides={"example.com/W": unknown}), diagnostics=diagnostics)
    assert result["spec"] == {
        "size": "1Gi",
        "items": [{"every": "1h30m0s"}, {"every": "soon"}, {}],
        "pod": {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}, {"name": "b", "resources": {}}]},
        "no": "1000m",
    }
    assert [diagnostic.code for diagnostic in diagnostics.collected()] == ["CMD-ARGO-707"]


@pytest.mark.requirement("D56")
@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        (
            "core/v1/Container",
            [{}, {"name": "b", "tty": False}],
            [{"name": "", "resources": {}}, {"name": "b", "resources": {}}],
        ),
        ("core/v1/ResourceRequirements", None, {}),
        ("core/v1/ResourceRequirements", [None, {"limits": {"cpu": "1000m"}}], [{}, {"limits": {"cpu": "1"}}]),
        ("core/v1/PodSpec", None, {"containers": None}),
        ("core/v1/PodSpec", {"containers": [], "hostNetwork": False, "own": 1}, {"containers": [], "own": 1}),
        ("core/v1/PodTemplateSpec", {}, {"metadata": {}, "spec": {"containers": None}}),
        ("core/v1/SecurityContext", {"runAsUser": 0, "runAsNonRoot": False}, {"runAsUser": 0, "runAsNonRoot": False}),
        ("core/v1/ServicePort", {"port": 80}, {"port": 80, "targetPort": 0}),
        ("core/v1/ResourceFieldSelector", {"resource": "limits.cpu"}, {"divisor": "0", "resource": "limits.cpu"}),
        ("core/v1/PersistentVolumeClaimSpec", {"accessModes": []}, {"resources": {}}),
        ("core/v1/ResourceList", None, None),
        ("core/Quantity", None, "0"),
        ("meta/v1/Duration", None, None),
    ],
)
def test_types_are_written_as_kubernetes_writes_them(kind: str, value: Any, written: Any) -> None:
    """Fields that cannot be omitted are written, and empty ones are not: recorded from k8s.io/api 0.36."""
    override = ResourceOverride(known_types=(("spec.items.field", kind),))
    data = {"apiVersion": "example.com/v1", "kind": "W", "spec": {"items": [{"field": value}, {}]}}
    result = normalise(data=data, settings=ArgoSettings(overrides={"example.com/W": override}))
    assert result["spec"]["items"] == [{"field": written}, {}]


def test_rollouts_are_known() -> None:
    template = {"spec": {"containers": [{"name": "a", "resources": {"limits": {"memory": "0.5Gi", "cpu": 2}}}]}}
    data = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "spec": {"template": template}}
    (container,) = normalise(data=data)["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"memory": "512Mi", "cpu": "2"}


@pytest.mark.requirement("D3")
def test_managers_need_a_cluster() -> None:
    diagnostics = Diagnostics()
    assert normalise({"managedFieldsManagers": ["x"]}, diagnostics=diagnostics)["spec"] == DEPLOYMENT["spec"]
    assert [(diagnostic.code, diagnostic.severity) for diagnostic in diagnostics.collected()] == [
        ("CMD-ARGO-705", "boundary")
    ]


def test_the_object_itself_stays_as_it_is() -> None:
    import copy

    before = copy.deepcopy(DEPLOYMENT)
    once = normalise({"jsonPointers": ["/spec"]})
    assert before == DEPLOYMENT
    assert normalise({"jsonPointers": ["/spec"]}, data=once) == once
