"""Places of errors are paths in the repository, for each kind of source."""

from __future__ import annotations

import json

import pytest

from commodore.argocd.operations.sarif import as_sarif
from tests.argocd.comparing.conftest import URL, Trees, app, config

pytestmark = pytest.mark.tools

CHART = {"Chart.yaml": "{apiVersion: v2, name: other, version: 1.0.0}", "templates/a.yaml": config("a")}
BROKEN = "kind: A\nmetadata: [\n"


@pytest.mark.requirement("D74")
@pytest.mark.parametrize(
    ("files", "name", "text", "place"),
    [
        ({}, "a.yaml", "apiVersion: v1\n" + BROKEN, "deep/one/a.yaml:4:1"),
        ({}, ".argocd-source.yaml", BROKEN, "deep/one/.argocd-source.yaml:3:1"),
        (CHART, "templates/a.yaml", "a:\n  {{ .x.y.z }}\n", "deep/one/templates/a.yaml:2:7"),
        (CHART, "values.yaml", "- a\n", "deep/one/values.yaml"),
        ({"kustomization.yaml": "resources: [a.yaml]\n"}, "a.yaml", BROKEN, "deep/one/a.yaml:2"),
    ],
    ids=["directory", "override", "helm", "values", "kustomize"],
)
def test_places_are_in_the_repository(trees: Trees, files: dict[str, str], name: str, text: str, place: str) -> None:
    trees.write({"one.json": app("one", "deep/one"), "deep/one/a.yaml": config()})
    trees.write({f"deep/one/{path}": content for path, content in files.items()})
    trees.write({f"deep/one/{name}": text}, "target")
    if name == "values.yaml":
        source = {"repoURL": URL, "path": "deep/one", "helm": {"valueFiles": ["values.yaml"]}}
        trees.write({"one.json": app("one", "deep/one", source=source)})
    difference = trees.diff()
    error = next(diagnostic for diagnostic in trees.diagnostics.collected() if diagnostic.severity == "error")
    assert str(error.locations[0]) == place, error
    assert not any("other/" in diagnostic.message for diagnostic in trees.diagnostics.collected())
    log = as_sarif(trees.diagnostics.collected(), trees.root / "target", difference)
    assert json.dumps(place.partition(":")[0]) in log
