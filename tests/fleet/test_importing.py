"""`fleet import`: base values that give back the Applications they were made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commodore.base.errors import CommodoreError, InputError, UsageError
from commodore.base.events import Warned
from commodore.fleet.importing import Imported, _beyond, import_applications
from commodore.fleet.merging import merge
from commodore.fleet.previewing import preview
from commodore.fleet.promotion.promoting import write_changes
from tests.fleet.conftest import World, charts, manifests


def application(name: str = "shop", **fields: Any) -> dict[str, Any]:
    spec = {
        "project": "default",
        "source": {"repoURL": "https://charts.example.com", "chart": "shop", "targetRevision": "1.2.0"},
        "destination": {"name": "in-cluster", "namespace": "shop"},
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, **fields.pop("metadata", {})},
        "spec": {**spec, **fields},
    }


def bring(world: World, *documents: dict[str, Any], app: str = "") -> Imported:
    file = world.root / "apps.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    done = import_applications(world.root, "main", [file], app, world.context)
    write_changes(dict(done.files), world.root)
    return done


def values(world: World, app: str = "shop") -> Any:
    return yaml.safe_load((world.root / f"config/main/{app}/values.yaml").read_bytes())["applications"]


def live(world: World, name: str = "shop") -> Any:
    """The Application that Argo CD would apply in a cell."""
    result = preview(world.root, "int/int-1/r1", None, None, world.context)
    return next(item for item in result if item["metadata"]["name"] == name)


@pytest.mark.tools
def test_only_what_differs_from_the_defaults(world: World) -> None:
    world.lay(charts())
    bring(world, application())
    assert values(world) == {
        "shop": {
            "source": {"repoURL": "https://charts.example.com", "chart": "shop", "targetRevision": "1.2.0"},
            "destination": {"namespace": "shop"},
        }
    }
    assert live(world)["spec"] == application()["spec"]


@pytest.mark.tools
def test_what_the_cluster_has_added_is_left_out(world: World) -> None:
    world.lay(charts())
    metadata = {
        "namespace": "argocd",
        "uid": "1",
        "resourceVersion": "2",
        "managedFields": [],
        "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        "labels": {"team": "a", "argocd.argoproj.io/instance": "root"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "8"},
    }
    bring(world, {**application(metadata=metadata), "status": {"sync": {}}, "operation": {}})
    assert live(world)["metadata"] == {
        "name": "shop",
        "namespace": "argocd",
        "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        "labels": {"team": "a"},
        "annotations": {"note": "8"},
    }


@pytest.mark.tools
def test_what_defaults_would_add_is_taken_away(world: World) -> None:
    world.lay(charts())
    file = world.root / "config/main/application-defaults.yaml"
    file.write_text(file.read_text() + "  revisionHistoryLimit: 5\n  syncPolicy: {automated: {prune: true}}\n")
    bring(world, application(destination={"server": "https://k8s.example.com"}))
    assert values(world)["shop"]["syncPolicy"] is None
    spec = live(world)["spec"]
    assert "syncPolicy" not in spec
    assert "revisionHistoryLimit" not in spec
    assert {key: value for key, value in spec["destination"].items() if value is not None} == {
        "server": "https://k8s.example.com"
    }


@pytest.mark.tools
def test_expressions_come_out_as_they_were(world: World) -> None:
    world.lay(charts())
    texts = ["{{name}}", "a {{ .Values.x }} b", "{{`x`}}", "{{", "}} {{ {{", "{{- if }}", "{{/* */}}"]
    parameters = [{"name": "p", "value": text} for text in texts]
    helm = {"parameters": parameters, "valuesObject": {"x": {"y": texts}}}
    source = {"repoURL": "https://charts.example.com", "path": "p", "helm": helm}
    bring(world, application(source=source))
    assert live(world)["spec"]["source"] == source


def test_lists_of_kubectl_and_one_folder_for_all(world: World) -> None:
    world.lay(charts())
    file = world.root / "list.json"
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    file.write_text(json.dumps({"kind": "List", "items": [application("a"), config_map, application("b")]}))
    done = import_applications(world.root, "main", [file], "shops", world.context)
    assert done.applications == {"shops": ("a", "b")}
    (told,) = [event for event in world.events if isinstance(event, Warned)]
    assert (told.code, "ConfigMap 'x'" in told.message) == ("CMD-FLT-099", True)


def test_in_style_manifests(world: World) -> None:
    world.lay(manifests())
    bring(world, application(source={"repoURL": "https://x.example.com", "path": "{{name}}"}))
    (told,) = [event.code for event in world.events if isinstance(event, Warned)]
    assert told == "CMD-FLT-099"
    bring(world, application("other"))
    world_values = values(world, "other")
    assert world_values["other"]["destination"] == {"namespace": "shop"}


def test_fields_that_the_template_cannot_write_are_told(world: World) -> None:
    world.lay(charts())
    bring(world, application(sourceHydrator={"drySource": {}}))
    assert [event.code for event in world.events if isinstance(event, Warned)] == ["CMD-FLT-099"]


@pytest.mark.parametrize(
    ("documents", "app", "code"),
    [
        ([application(), application()], "", "CMD-FLT-016"),
        ([application("web")], "", "CMD-FLT-016"),
        ([application()], "web", "CMD-FLT-072"),
        ([application("../x")], "", "CMD-NAME-001"),
        ([application()], "../x", "CMD-NAME-001"),
        ([{"kind": "ConfigMap"}], "", "CMD-FLT-098"),
        ([], "", "CMD-FLT-098"),
    ],
)
def test_what_is_refused_writes_nothing(world: World, documents: list[Any], app: str, code: str) -> None:
    before = world.lay(charts()).config()
    with pytest.raises(CommodoreError) as caught:
        bring(world, *documents, app=app)
    assert caught.value.code == code
    assert world.config() == before


def test_a_type_that_is_not_there(world: World) -> None:
    world.lay(charts())
    with pytest.raises(UsageError, match="there is no cluster type 'mian'"):
        import_applications(world.root, "mian", [Path("x")], "", world.context)


def test_a_file_that_is_too_large(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.lay(charts())
    file = world.root / "large.yaml"
    with file.open("wb") as opened:
        opened.truncate(world.context.limits.argocd_file_bytes + 1)
    with pytest.raises(InputError, match="argocd_file_bytes"):
        import_applications(world.root, "main", [file], "", world.context)


_leaf = st.one_of(
    st.integers(0, 3), st.sampled_from(["a", "b", ""]), st.booleans(), st.lists(st.integers(0, 2), max_size=2)
)
_tree = st.recursive(_leaf, lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3), max_leaves=8)
_item = st.dictionaries(st.sampled_from("abcd"), _tree, max_size=4)


def without_nulls(value: Any) -> Any:
    """As the API has it: a field that is null is not there."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return value


@given(_item, _item)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_what_lies_beyond_defaults_gives_the_item_back(item: dict[str, Any], defaults: dict[str, Any]) -> None:
    assert without_nulls(merge(defaults, _beyond(item, defaults))) == without_nulls(item)
