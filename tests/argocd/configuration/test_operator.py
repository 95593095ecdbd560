"""Settings of an `ArgoCD`, as in the documentation of the operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import ArgoSettings, Diagnostics, Options, Tree, read_settings, settings
from commodore.base.errors import InputError
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.comparing.conftest import app

OPERATED = """\
apiVersion: argoproj.io/%s
kind: ArgoCD
metadata: {name: gitops, namespace: openshift-gitops}
spec:
  applicationInstanceLabelKey: example.com/app
  resourceTrackingMethod: annotation+label
  installationID: one
  kustomizeBuildOptions: --enable-helm
  kustomizeVersions: [{version: v4.5.7, path: /opt/kustomize}]
  resourceExclusions: |
    - {apiGroups: [tekton.dev], kinds: [TaskRun]}
  resourceInclusions: ""
  resourceIgnoreDifferences:
    all: {managedFieldsManagers: [controller]}
    resourceIdentifiers:
      - {group: apps, kind: Deployment, customization: {jsonPointers: [/spec/replicas]}}
      - {kind: Service, customization: {jqPathExpressions: [.spec.old]}}
  resourceHealthChecks: [{group: example.com, kind: Thing, check: "return {}"}]
  resourceActions: [{group: apps, kind: Deployment, action: "discovery.lua: ''"}]
  extraConfig: {installationID: two, accounts.bot: apiKey}
  sourceNamespaces: [team-*, other]
  applicationSet: {sourceNamespaces: [sets], scmProviders: ["https://git.example.com"]}
  cmdParams: {controller.diff.server.side: "true"}
  repositoryCredentials: "- {url: x, password: t0psecret}"
"""


def read(tmp_path: Path, text: str, diagnostics: Diagnostics | None = None) -> ArgoSettings:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    return read_settings([file], DEFAULT_LIMITS, diagnostics or Diagnostics())


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
def test_what_becomes_of_its_fields(version: str, tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    got = read(tmp_path, OPERATED % version, diagnostics)
    assert not diagnostics.collected()
    assert (got.namespace, got.label_key, got.tracking_method) == (
        "openshift-gitops",
        "example.com/app",
        "annotation+label",
    )
    assert (got.installation, got.build_options(), got.kustomize_versions()) == ("two", "--enable-helm", ("v4.5.7",))
    assert "TaskRun" in got["resource.exclusions"]
    assert got["resource.inclusions"] == ""
    assert {
        kind: override.ignored.pointers for kind, override in got.overrides.items() if override.ignored.pointers
    } == {"apps/Deployment": ("/spec/replicas",)}
    assert got.overrides["Service"].ignored.expressions == (".spec.old",)
    assert got.overrides["*/*"].ignored.managers == ("controller",)
    assert got.overrides["example.com/Thing"].health == "return {}"
    assert got.parameter("application.namespaces") == "team-*,other"
    assert got.parameter("applicationsetcontroller.namespaces") == "sets"
    assert got.parameter("applicationsetcontroller.allowed.scm.providers") == "https://git.example.com"
    assert got.parameter("controller.diff.server.side") == "true"
    assert "t0psecret" not in str(got)


@pytest.mark.parametrize(
    "spec",
    [
        {"resourceExclusions": []},
        {"resourceHealthChecks": [{"group": "apps"}]},
        {"resourceIgnoreDifferences": {"all": {"jsonPointers": "/a"}}},
        {"extraConfig": {"a": {}}},
    ],
)
def test_fields_of_wrong_types(spec: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"apiVersion: argoproj.io/v1beta1\nkind: ArgoCD\nspec: {spec}\n")
    assert caught.value.code == "CMD-ARGO-103"


@pytest.mark.tools
def test_one_of_a_tree_and_one_that_is_rendered(tmp_path: Path) -> None:
    """Both count, with their places; an object of another group does not."""
    operated = OPERATED % "v1beta1"
    (tmp_path / "argocd.yaml").write_text(operated)
    (tmp_path / "foreign.yaml").write_text(operated.replace("argoproj.io", "example.com").replace("gitops", "foreign"))
    got = {setting.key: setting for setting in settings(Tree.folder(tmp_path), Options()).settings}
    assert (got["kustomize.buildOptions"].value, str(got["kustomize.buildOptions"].place)) == (
        "--enable-helm",
        "argocd.yaml:1",
    )
    (tmp_path / "argocd.yaml").unlink()
    source = {"repoURL": "https://git.example.com/shop", "path": "made", "directory": {"jsonnet": {}}}
    (tmp_path / "app.yaml").write_text(app("argocd", "", source=source))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "a.jsonnet").write_text(
        '{apiVersion: "argoproj.io/v1beta1", kind: "ArgoCD", metadata: {name: "a"}, '
        'spec: {kustomizeBuildOptions: "--enable-helm"}}'
    )
    options = Options().having(self_url=("https://git.example.com/shop",))
    got = {setting.key: setting for setting in settings(Tree.folder(tmp_path), options).settings}
    assert got["kustomize.buildOptions"].value == "--enable-helm"
