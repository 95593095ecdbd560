"""`catalog compile --argocd-diff`: a compiled catalog is a repository of Argo CD."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld

MAIN = """
local inventory = (import 'lib/kapitan.libjsonnet').inventory();
local parameters = inventory.parameters;
{
  'web/config': {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config' }, data: parameters.web.data,
  },
  'web/claim': {
    apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' },
  },
  'apps/web': {
    apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: { name: 'web', namespace: 'syn' },
    spec: {
      project: 'syn',
      destination: { server: 'https://kubernetes.default.svc', namespace: 'web' },
      source: { repoURL: parameters.cluster.catalog_url, path: 'manifests/web/web', targetRevision: 'HEAD' },
    },
  },
}
"""


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("web", {"component/main.jsonnet": MAIN}, data={"colour": "red"})
    return made


def test_what_the_change_of_a_catalog_means(world: ClusterWorld) -> None:
    first = world.compile("--push", "--argocd-diff", "text")
    assert first.code == 0, first.stderr
    assert first.stdout.splitlines()[:2] == ["3 added", "  + syn/web  3 added"]

    world.tenant_parameters["web"] = {"data": {"colour": "blue"}}
    for form, part in (("text", "    data.colour\n    - red\n    + blue\n"), ("markdown", "| Application | Objects |")):
        done = world.compile("--argocd-diff", form)
        assert done.code == 0, done.stderr
        assert part in done.stdout
        assert "Changed file" not in done.stdout
    html = world.compile("--argocd-diff", "html").stdout
    assert html.startswith("<!doctype html>")
    assert "blue" in html


def test_it_fails_no_compile(world: ClusterWorld) -> None:
    """An Application that does not render is unknown; a repository that is elsewhere is not fetched."""
    elsewhere = MAIN.replace("parameters.cluster.catalog_url", "'https://git.example.com/other'")
    world.remotes["web"].commit({"component/main.jsonnet": elsewhere})
    done = world.compile("--argocd-diff", "text")
    assert done.code == 0, done.stderr
    assert "? syn/web" in done.stdout
    assert "CMD-ARGO-310" in done.stderr


@pytest.mark.parametrize("other", [("--output-format", "json"), ("--local", "--watch")])
def test_options_that_cannot_be_combined(world: ClusterWorld, other: tuple[str, ...]) -> None:
    done = world.run(
        "-d", str(world.work), "--log-format", "json", "catalog", "compile", "c-one", "--argocd-diff", "text", *other
    )
    assert (done.code, done.error["code"]) == (2, "CMD-CLI-034")
