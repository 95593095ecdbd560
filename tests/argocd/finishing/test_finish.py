"""From rendered objects to the desired objects on the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.argocd.finishing import hook_phases
from commodore.base.errors import CommodoreError
from tests.argocd.conftest import Argo, config_map

ID = "argocd.argoproj.io/tracking-id"
LABEL = "app.kubernetes.io/instance"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com%s}
spec: {group: example.com, names: {kind: Thing}, scope: Cluster}
"""


def meta(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (data,) = objects
    metadata: dict[str, Any] = data["metadata"]
    return metadata


def test_tracking_by_annotation(argo: Argo) -> None:
    argo.files({"a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, labels: {l: x}}\n"})
    metadata = meta(argo.tracked({"path": "."}))
    assert metadata == {"name": "a", "labels": {"l": "x"}, "annotations": {ID: "shop:apps/Deployment:web/a"}}
    metadata = meta(argo.tracked({"path": "."}, metadata={"namespace": "team"}))
    assert metadata["annotations"] == {ID: "team_shop:apps/Deployment:web/a"}
    argo.config["installationID"] = "one"
    installation = "argocd.argoproj.io/installation-id"
    assert meta(argo.tracked({"path": "."}))["annotations"][installation] == "one"


def test_tracking_by_label(argo: Argo) -> None:
    argo.files({"a.yaml": config_map("a")})
    argo.config["application.resourceTrackingMethod"] = "label"
    assert meta(argo.tracked({"path": "."})) == {"name": "a", "labels": {LABEL: "shop"}}
    argo.config["application.resourceTrackingMethod"] = "annotation+label"
    argo.config["application.instanceLabelKey"] = "mine"
    name = "x" * 62 + "-y"
    metadata = meta(argo.tracked({"path": "."}, metadata={"name": name}))
    assert metadata["labels"] == {"mine": "x" * 62}
    assert metadata["annotations"] == {ID: f"{name}:/ConfigMap:web/a"}


def test_the_old_label_is_put_into_templates(argo: Argo) -> None:
    argo.files({"a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {}}\n"})
    key = "applications.argoproj.io/app-name"
    argo.config |= {"application.resourceTrackingMethod": "label", "application.instanceLabelKey": key}
    (data,) = argo.tracked({"path": "."})
    assert data["spec"]["template"]["metadata"]["labels"] == {key: "shop"}


@pytest.mark.parametrize("wrong", ["labels: [a]", "annotations: {a: 1}", "labels: {a: true}"])
def test_labels_must_be_texts(wrong: str, argo: Argo) -> None:
    argo.files({"a.yaml": f"apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  {wrong}\n"})
    with pytest.raises(CommodoreError) as caught:
        argo.tracked({"path": "."})
    assert caught.value.code == "CMD-ARGO-503"


def test_namespaces(argo: Argo) -> None:
    argo.files(
        {
            "a.yaml": config_map("a"),
            "b.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: b, namespace: own}\n",
            "c.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: c, namespace: lost}\n",
            "d.yaml": CRD % "",
            "e.yaml": (CRD % ", namespace: x").replace("things", "more"),
            "f.yaml": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: f, namespace: lost}\n",
            "g.yaml": "apiVersion: example.com/v1\nkind: Other\nmetadata: {name: g, namespace: lost}\n",
            "h.yaml": "apiVersion: v1\nkind: NoName\n",
        }
    )
    by_name = {
        data["metadata"].get("name"): data["metadata"]
        for data in argo.desired({"path": "."}, cluster_scoped=("example.com/Other",))
    }
    places = {
        name: (metadata.get("namespace"), metadata.get("annotations", {}).get(ID)) for name, metadata in by_name.items()
    }
    assert places == {
        "a": ("web", "shop:/ConfigMap:web/a"),
        "b": ("own", "shop:/Service:own/b"),
        "c": (None, "shop:/Namespace:web/c"),
        "f": (None, "shop:example.com/Thing:web/f"),
        "g": (None, "shop:example.com/Other:web/g"),
        "more.example.com": (None, "shop:apiextensions.k8s.io/CustomResourceDefinition:web/more.example.com"),
        "things.example.com": (None, None),
        None: ("web", "shop:/NoName:web/"),
    }
    (data,) = argo.desired({"path": ".", "directory": {"include": "d.yaml"}})
    assert data["metadata"] == {"name": "things.example.com"}


@pytest.mark.requirement("D33", "D34")
def test_of_duplicates_the_later_stands_at_its_place(argo: Argo) -> None:
    argo.files(
        {"one/a.yaml": config_map("a", k="1"), "one/b.yaml": config_map("b"), "two/a.yaml": config_map("a", k="2")}
    )
    argo.files(
        {"two/g.yaml": "kind: Job\nmetadata: {generateName: j-}\n---\nkind: Job\nmetadata: {generateName: j-}\n"}
    )
    objects = argo.desired({"path": "one"}, {"path": "two"})
    assert [(data["kind"], data["metadata"].get("name"), data.get("data")) for data in objects] == [
        ("ConfigMap", "b", {}),
        ("ConfigMap", "a", {"k": "2"}),
        ("Job", None, None),
        ("Job", None, None),
    ]
    (told,) = (diagnostic for diagnostic in argo.diagnostics.collected() if diagnostic.code == "CMD-ARGO-501")
    assert "sources 1, 2" in told.message
    assert len(argo.tracked({"path": "one"}, {"path": "two"})) == 5


def test_lists_are_opened(argo: Argo) -> None:
    argo.files(
        {
            "a.yaml": "kind: List\nitems: [{kind: A, metadata: {name: a}}]\n",
            "b.yaml": "kind: ThingList\nitems: null\n",
            "c.yaml": "kind: NotAList\nmetadata: {name: c}\nitems: null\nspec: {}\n",
            "d.yaml": "kind: Thing\nmetadata: {name: d}\nitems: null\n",
        }
    )
    assert [data["metadata"]["name"] for data in argo.tracked({"path": "."})] == ["a", "c", "d"]
    assert {(diagnostic.code, diagnostic.message) for diagnostic in argo.diagnostics.collected()} == {
        ("CMD-ARGO-509", "a ThingList has no items")
    }
    argo.files({"a.yaml": "kind: List\nitems: [5]\n"})
    with pytest.raises(CommodoreError) as caught:
        argo.tracked({"path": "."})
    assert caught.value.code == "CMD-ARGO-417"


@pytest.mark.requirement("D56")
def test_kinds_that_are_excluded(argo: Argo) -> None:
    argo.files(
        {
            "a.yaml": config_map("a"),
            "b.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\n",
            "c.yaml": "apiVersion: v1\nkind: Event\nmetadata: {name: c}\n",
        }
    )

    def kinds() -> list[str]:
        return [data["kind"] for data in argo.desired({"path": "."})]

    assert kinds() == ["ConfigMap", "Deployment"]
    left_out = [diagnostic.message for diagnostic in argo.diagnostics.collected() if diagnostic.code == "CMD-ARGO-502"]
    assert left_out == ["Event web/c is left out: the settings exclude its kind"]
    argo.config["resource.exclusions"] = "[{apiGroups: ['a*'], kinds: ['*'], clusters: ['https://*']}]"
    assert kinds() == ["ConfigMap"]
    argo.config["resource.exclusions"] = "[{apiGroups: ['a*'], clusters: ['https://else']}]"
    argo.config["resource.inclusions"] = "[{kinds: [Deployment]}]"
    assert kinds() == ["Deployment"]


@pytest.mark.parametrize(
    ("annotations", "phases"),
    [
        ({}, None),
        ({"argocd.argoproj.io/hook": "PreSync, Sync"}, ("PreSync", "Sync")),
        ({"argocd.argoproj.io/hook": "Skip"}, ("Skip",)),
        ({"argocd.argoproj.io/hook": "Nonsense"}, ()),
        ({"helm.sh/hook": "pre-install,pre-upgrade"}, ("PreSync",)),
        ({"helm.sh/hook": "post-upgrade"}, ("PostSync",)),
        ({"helm.sh/hook": "crd-install"}, None),
        ({"helm.sh/hook": "test"}, ()),
        ({"argocd.argoproj.io/hook": "Sync", "helm.sh/hook": "test"}, ("Sync",)),
    ],
)
def test_hooks(annotations: dict[str, str], phases: tuple[str, ...] | None) -> None:
    assert hook_phases({"metadata": {"annotations": annotations}}) == phases
