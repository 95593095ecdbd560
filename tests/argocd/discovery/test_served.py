"""The APIs of CustomResourceDefinitions of a tree, as charts see them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import Options, Tree, diff, explain, render
from commodore.argocd.discovery import served_by
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.comparing.conftest import app
from tests.argocd.conftest import chart
from tests.world.folders import write_files

pytestmark = pytest.mark.tools

URL = "https://git.example.com/shop"
OPTIONS = Options().having(self_url=(URL,), changed_only=True)
IN_CLUSTER = "https://kubernetes.default.svc"


def crd(group: str = "example.com", *versions: dict[str, Any], **spec: Any) -> str:
    listed = list(versions) or [{"name": "v1", "served": True}]
    whole = {"group": group, "names": {"kind": "Thing", "plural": "things"}, "versions": listed, **spec}
    value = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": whole,
    }
    return json.dumps(value)


@pytest.mark.parametrize(
    ("text", "served"),
    [
        (crd(), ("example.com/v1", "example.com/v1/Thing")),
        (
            crd("a.io", {"name": "v1", "served": False}, {"name": "v2", "served": True}),
            ("a.io/v2", "a.io/v2/Thing"),
        ),
        (crd("b.io", versions=None, version="v1beta1"), ("b.io/v1beta1", "b.io/v1beta1/Thing")),
        (f'{{"kind": "List", "items": [{crd("c.io")}]}}', ("c.io/v1", "c.io/v1/Thing")),
        (crd("d.io,e.io"), ()),
        (crd("f.io", {"name": "{{ x }}", "served": True}), ()),
        ("# CustomResourceDefinition apiextensions.k8s.io/\n{{ if }}", ()),
        (crd().replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io.example.com/v1"), ()),
    ],
)
def test_what_a_file_shows(text: str, served: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    assert served_by(file, DEFAULT_LIMITS) == served
    assert served_by(file, replace(DEFAULT_LIMITS, argocd_scanned_bytes=10)) == ()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A chart that checks an API, for two clusters; nothing in the tree has it."""
    write_files(tmp_path / "web", chart())
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "b.yaml").write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}')
    for name, server in (("here", IN_CLUSTER), ("there", "https://there.example.com")):
        (tmp_path / f"{name}.yaml").write_text(_app(name, "web", server))
    (tmp_path / "crds.yaml").write_text(_app("crds", "crds", IN_CLUSTER))
    return tmp_path


def _app(name: str, path: str, server: str) -> str:
    return app(name, "", source={"repoURL": URL, "path": path}, destination={"server": server, "namespace": name})


def told(tree: Path, options: Options = OPTIONS) -> dict[str, str]:
    """Return the answer of the check, by Application."""
    result = render(Tree.folder(tree), options, ("here", "there"))
    return {application.name: application.objects[0].data["data"]["has"] for application in result.applications}


@pytest.mark.parametrize(
    ("file", "here", "there"),
    [("crds/a.yaml", "true", "false"), ("elsewhere/a.yaml", "true", "true"), ("crds/a.txt", "false", "false")],
)
def test_charts_that_ask(file: str, here: str, there: str, tree: Path) -> None:
    """A definition is for the clusters of Applications with its folder, or else for all."""
    place = tree / file
    place.parent.mkdir(exist_ok=True)
    place.write_text(crd())
    assert told(tree) == {"argocd/here": here, "argocd/there": there}
    assert set(told(tree, OPTIONS.having(api_versions_from_tree=False)).values()) == {"false"}


def test_what_facts_and_the_source_say_counts_more(tree: Path) -> None:
    (tree / "a.yaml").write_text(crd())
    facts = tree.parent / "facts.yaml"
    facts.write_text(f"clusters: [{{name: in-cluster, server: '{IN_CLUSTER}', apiVersions: [other.io/v1]}}]\n")
    assert told(tree, OPTIONS.having(facts=(facts,))) == {"argocd/here": "false", "argocd/there": "true"}
    source = {"repoURL": URL, "path": "web", "helm": {"apiVersions": ["other.io/v1"]}}
    (tree / "here.yaml").write_text(app("here", "", source=source))
    assert told(tree)["argocd/here"] == "false"
    assert told(tree, OPTIONS.having(api_version=("other.io/v1",)))["argocd/there"] == "true"


def test_each_use_is_told(tree: Path) -> None:
    (tree / "crds" / "a.yaml").write_text(crd())
    shown = explain(Tree.folder(tree), "here", OPTIONS)
    assert "--api-versions example.com/v1/Thing" in str(shown.application.commands)
    diagnostics = render(Tree.folder(tree), OPTIONS, ("here", "crds")).diagnostics
    (diagnostic,) = (diagnostic for diagnostic in diagnostics if diagnostic.code == "CMD-ARGO-416")
    assert (diagnostic.severity, diagnostic.subject.application) == ("info", "argocd/here")
    assert "2 of CustomResourceDefinitions" in diagnostic.message


def test_a_comparison_renders_what_new_definitions_change(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The chart itself has not changed, and reads no file that has."""
    import shutil

    target = tmp_path_factory.mktemp("target") / "tree"
    shutil.copytree(tree, target)
    (target / "crds" / "a.yaml").write_text(crd())
    difference = diff(Tree.folder(tree), Tree.folder(target), OPTIONS)
    states = {application.name: application.state for application in difference.applications}
    assert states == {"argocd/crds": "changed", "argocd/here": "changed", "argocd/there": "unchanged"}
    (target / "crds" / "a.yaml").write_text(crd(scope="Cluster"))
    shutil.copyfile(target / "crds" / "a.yaml", tree / "crds" / "a.yaml")
    (target / "crds" / "a.yaml").write_text(crd(scope="Namespaced"))
    difference = diff(Tree.folder(tree), Tree.folder(target), OPTIONS)
    states = {application.name: application.state for application in difference.applications}
    assert states == {"argocd/crds": "changed", "argocd/here": "not-rendered", "argocd/there": "not-rendered"}
