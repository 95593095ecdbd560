"""The builtin filter `helm_namespace` (spec c 10.4), evaluated as it is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import _gojsonnet
import pytest

from tests.lib.evaluation import PACKAGE, filter_natives, importer

FILTER = PACKAGE / "filters" / "helm_namespace.jsonnet"


def run(folder: Path, create: str = "false", exclude: list[Any] | None = None) -> Any:
    """The files that the filter wants written: a map from stem to documents."""
    text = _gojsonnet.evaluate_file(
        str(FILTER),
        ext_vars={
            "chart_output_dir": str(folder),
            "namespace": "new",
            "create_namespace": create,
            "exclude_objects": json.dumps(exclude or []),
        },
        import_callback=importer(),
        native_callbacks=filter_natives({}),
    )
    return json.loads(text)


def named(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, **metadata}}


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """What a chart may leave behind."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "sub.yaml").write_text("kind: Sub\nmetadata: {name: s}\n")
    (tmp_path / "app.yaml").write_text(
        "kind: Service\nmetadata: {name: s, namespace: old, labels: {a: b}}\n---\nnull\n---\n"
        "kind: ClusterRole\nmetadata: {name: r}\n"
    )
    (tmp_path / "v1.crd.yaml").write_text("kind: Crd\nmetadata: {name: c}\n")
    (tmp_path / "empty.yaml").write_text("")
    return tmp_path


def test_namespace_is_set_on_every_object(chart: Path) -> None:
    """C59: an existing namespace is replaced, cluster-scoped kinds are no exception, sub-folders are left alone."""
    assert run(chart) == {
        "app": [
            named("Service", "s", namespace="new", labels={"a": "b"}),
            named("ClusterRole", "r", namespace="new"),
        ],
        "v1.crd": [named("Crd", "c", namespace="new")],
        "empty": [],
    }


def test_excluded_objects_stay(chart: Path) -> None:
    """C62: filter arguments reach the filter."""
    exclude = [
        {"kind": "Service", "name": "s", "apiVersion": "ignored"},
        {"kind": "Crd", "name": "other"},
        {"kind": "ClusterRole", "name": "a|b"},
    ]
    assert run(chart, exclude=exclude) == {
        "app": [named("Service", "s", namespace="old", labels={"a": "b"}), named("ClusterRole", "r", namespace="new")],
        "v1.crd": [named("Crd", "c", namespace="new")],
        "empty": [],
    }


def test_an_entry_without_name_excludes_its_kind(chart: Path) -> None:
    assert run(chart, exclude=[{"kind": "ClusterRole"}])["app"][1] == named("ClusterRole", "r")


def test_an_entry_without_kind_is_an_error(chart: Path) -> None:
    with pytest.raises(RuntimeError, match=r'exclude_objects: the entry {"name":"s"} has no kind'):
        run(chart, exclude=[{"name": "s"}])


def test_excluding_works_beside_objects_without_kind_or_metadata(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("x: 1\n---\nkind: A\nmetadata: null\n")
    assert run(tmp_path, exclude=[{"kind": "A", "name": "a"}]) == {
        "a": [{"x": 1, "metadata": {"namespace": "new"}}, {"kind": "A", "metadata": {"namespace": "new"}}]
    }


@pytest.mark.parametrize(("create", "created"), [("true", True), ("false", False), ("True", False), ("", False)])
def test_the_namespace_is_created_on_demand(chart: Path, create: str, created: bool) -> None:
    result = run(chart, create=create)
    assert result.get("00_namespace") == (
        [
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "new", "labels": {"name": "new"}, "annotations": {}},
            }
        ]
        if created
        else None
    )


def test_an_earlier_namespace_file_is_rewritten(tmp_path: Path) -> None:
    (tmp_path / "00_namespace.yaml").write_text("kind: Namespace\nmetadata: {name: gone}\n")
    assert run(tmp_path, create="true")["00_namespace"][0]["metadata"]["name"] == "new"


def test_only_manifests_are_read(tmp_path: Path) -> None:
    """Anything else that lies there would become a garbage file, or fail."""
    (tmp_path / "NOTES.txt").write_text("Visit: your: site\n")
    (tmp_path / "README").write_text("hello\n")
    (tmp_path / "values.json").write_text('{"kind": "J"}')
    (tmp_path / "old.yml").write_text("kind: Y\n")
    assert run(tmp_path) == {
        "old": [{"kind": "Y", "metadata": {"namespace": "new"}}],
        "values": [{"kind": "J", "metadata": {"namespace": "new"}}],
    }


def test_files_with_one_stem_end_up_in_one(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("kind: Second\n")
    (tmp_path / "a.yaml").write_text("kind: First\n")
    assert [document["kind"] for document in run(tmp_path)["a"]] == ["First", "Second"]


def test_what_is_no_object_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- kind: A\n")
    with pytest.raises(RuntimeError, match=r"a\.yaml holds a document of type array, expected Kubernetes objects"):
        run(tmp_path)
