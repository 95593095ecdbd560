"""Settings of an installation, from files with its objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import ArgoSettings, Diagnostics, read_settings
from commodore.argocd.configuration import NEWEST, Candidates, IgnoredFields, Installation, objects_of_values
from commodore.argocd.discovery import Search, SearchRoot, open_listing
from commodore.argocd.model import Cluster
from commodore.argocd.model.fields import Fields
from commodore.base.context import Context
from commodore.base.documents import plain
from commodore.base.errors import InputError, Location
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: gitops}
data:
  application.resourceTrackingMethod: label
  kustomize.buildOptions: --enable-helm
  kustomize.path.v4.5.7: /usr/local/bin/kustomize-4
  kustomize.buildOptions.v4.5.7: --enable-alpha-plugins
  helm.valuesFileSchemes: https
  resource.customizations: |
    apps/Deployment:
      ignoreDifferences: |
        jsonPointers: [/spec/replicas]
    Service:
      ignoreDifferences: "jsonPointers: [/spec/old]"
  resource.customizations.ignoreDifferences.Service: "jqPathExpressions: [.spec.new]"
  resource.customizations.ignoreDifferences.all: "managedFieldsManagers: [controller]"
  resource.customizations.knownTypeFields.example.com_Thing: |
    - {field: spec.size, type: core/Quantity}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cmd-params-cm}
data: {applicationsetcontroller.enable.new.git.file.globbing: "true"}
---
apiVersion: v1
kind: Secret
metadata: {name: prod, labels: {argocd.argoproj.io/secret-type: cluster, env: prod}}
stringData: {name: prod, server: "https://prod.example.com/", config: '{"bearerToken": "t0psecret"}'}
---
apiVersion: v1
kind: Secret
metadata: {name: test, labels: {argocd.argoproj.io/secret-type: cluster}}
data: {name: dGVzdA==, server: aHR0cHM6Ly90ZXN0}
"""


def read(tmp_path: Path, *texts: str) -> tuple[ArgoSettings, list[str]]:
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.yaml")
        files[-1].write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    settings = read_settings(files, DEFAULT_LIMITS, diagnostics)
    return settings, [diagnostic.code for diagnostic in diagnostics.collected()]


@pytest.mark.requirement("D13", "D14", "D21")
def test_what_an_installation_says(tmp_path: Path) -> None:
    settings, codes = read(tmp_path, CONFIG)
    assert codes == []
    assert (settings.namespace, settings.tracking_method) == ("gitops", "label")
    assert settings.value_file_schemes == {"https"}
    assert settings.kustomize_versions() == ("v4.5.7",)
    assert settings.build_options() == "--enable-helm"
    assert settings.build_options("v4.5.7") == "--enable-alpha-plugins"
    assert settings.new_git_file_globbing
    assert settings.overrides["apps/Deployment"].ignored == IgnoredFields(pointers=("/spec/replicas",))
    assert settings.overrides["Service"].ignored == IgnoredFields(expressions=(".spec.new",))
    assert settings.overrides["*/*"].ignored == IgnoredFields(managers=("controller",))
    assert settings.overrides["example.com/Thing"].known_types == (("spec.size", "core/Quantity"),)
    place = settings.config["kustomize.buildOptions"].place
    assert place is not None
    assert (place.place, place.line) == (str(tmp_path / "0.yaml"), 6)


@pytest.mark.requirement("D18", "D23")
def test_clusters_are_read_without_their_credentials(tmp_path: Path) -> None:
    settings, _ = read(tmp_path, CONFIG)
    assert [(cluster.name, cluster.server) for cluster in settings.clusters] == [
        ("prod", "https://prod.example.com"),
        ("test", "https://test"),
    ]
    assert settings.clusters[0].labels["env"] == "prod"
    assert "t0psecret" not in repr(settings)


@pytest.mark.requirement("D18")
def test_documents_of_clusters_have_no_copy_of_their_secrets() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": '{"config": "t0psecret"}', "team": "a"}
    assert plain(Cluster("prod", "https://prod", annotations=annotations))["annotations"] == {"team": "a"}


SECRET = """\
kind: Secret
metadata: {name: %s, labels: {argocd.argoproj.io/secret-type: %s}}
stringData: {url: "%s", name: %s, type: helm, password: t0psecret, username: bot}
---
"""


@pytest.mark.tools
@pytest.mark.requirement("D15", "D18", "D41")
def test_repositories_are_read_without_their_credentials(tmp_path: Path) -> None:
    """Options take precedence over files, and files over values of the chart."""
    option, tree = tmp_path / "secret.yaml", tmp_path / "tree"
    tree.mkdir()
    option.write_text(SECRET % ("a", "repository", "https://bot:t0psecret@charts.example.com", "stable"))
    (tree / "secrets.yaml").write_text(
        SECRET % ("b", "repository", "https://other.example.com", "stable")
        + SECRET % ("c", "repo-creds", "https://git.example.com/team", "team")
        + SECRET % ("d", "repository", "", "encrypted")
    )
    (tree / "values.yaml").write_text(
        "argo-cd:\n  configs:\n    repositories:\n"
        "      one: {url: registry.example.com/charts, type: helm, name: own, enableOCI: true, password: t0psecret}\n"
        "    credentialTemplates:\n      two: {url: 'https://git.example.com/all', sshPrivateKey: t0psecret}\n"
    )
    diagnostics = Diagnostics()
    root = SearchRoot(tree, Search(max_depth=0), Installation(repository_secrets=(option,)))
    with open_listing(root, Context(ignore, DEFAULT_LIMITS, offline=True), diagnostics) as listing:
        settings = listing.settings
    assert settings.chart_repository("stable") == "https://charts.example.com"
    assert settings.chart_repository("own") == "oci://registry.example.com/charts"
    assert settings.chart_repository("team") == ""
    assert [(repository.name, repository.template) for repository in settings.repositories] == [
        ("stable", False),
        ("stable", False),
        ("team", True),
        ("own", False),
        ("", True),
    ]
    assert "CMD-ARGO-124" in [
        diagnostic.code for diagnostic in diagnostics.collected() if diagnostic.severity == "info"
    ]
    assert "t0psecret" not in repr(settings)
    option.write_text(CONFIG)
    with pytest.raises(InputError) as caught:
        root.candidates(NEWEST, DEFAULT_LIMITS, diagnostics)
    assert caught.value.code == "CMD-ARGO-103"


@pytest.mark.requirement("D19")
def test_the_defaults() -> None:
    settings = ArgoSettings()
    assert (settings.namespace, settings.tracking_method) == ("argocd", "annotation")
    assert settings.label_key == "app.kubernetes.io/instance"
    assert settings.enabled("helm")
    assert settings.value_file_schemes == {"http", "https"}
    assert settings.instance_name("argocd", "shop") == settings.instance_name("", "shop") == "shop"
    assert settings.instance_name("team", "shop") == "team_shop"


@pytest.mark.requirement("D20", "D75")
def test_conflicts_are_told_with_both_places(tmp_path: Path) -> None:
    other = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {kustomize.buildOptions: other}\n"
    settings, codes = read(tmp_path, CONFIG, other)
    assert settings.build_options() == "--enable-helm"
    assert codes == ["CMD-ARGO-120"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("application.resourceTrackingMethod: anotation", "CMD-ARGO-121"),
        ("resource.customizations.ignoreDiferences.Service: x", "CMD-ARGO-127"),
        ("resource.customizations.ignoreDifferences.Service: '[]'", "CMD-ARGO-103"),
        ("resource.customizations: 'a: ['", "CMD-YAML-001"),
    ],
)
def test_values_that_mean_nothing_are_told(line: str, code: str, tmp_path: Path) -> None:
    _, codes = read(tmp_path, f"kind: ConfigMap\nmetadata: {{name: argocd-cm}}\ndata:\n  {line}\n")
    assert codes == [code]


@pytest.mark.parametrize(
    "text",
    [
        "kind: Deployment\nmetadata: {name: a}\n",
        "[]",
        "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {a: [1]}\n",
        "kind: Secret\nmetadata: {labels: {argocd.argoproj.io/secret-type: cluster}}\n",
        "kind: Secret\nmetadata: {labels: {argocd.argoproj.io/secret-type: cluster}}\ndata: {server: '%'}\n",
    ],
)
def test_other_objects_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert caught.value.code == "CMD-ARGO-103"
    assert caught.value.locations[0].place == str(tmp_path / "0.yaml")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    with file.open("wb") as stream:
        stream.truncate(DEFAULT_LIMITS.argocd_file_bytes + 1)
    with pytest.raises(InputError) as caught:
        read_settings([file], DEFAULT_LIMITS, Diagnostics())
    assert caught.value.code == "CMD-ARGO-101"


@pytest.mark.requirement("D17")
def test_values_of_the_chart() -> None:
    values = {
        "argo-cd": {
            "server": {"config": {"installationID": "old", "url": "https://argocd.example.com"}},
            "configs": {
                "cm": {
                    "create": True,
                    "installationID": "new",
                    "helm.enable": False,
                    "resource.exclusions": [{"kinds": ["Lease"]}],
                },
                "params": {"application.namespaces": "team-*", "server.insecure": True},
                "clusterCredentials": {"prod": {"server": "https://prod.example.com/", "labels": {"tier": "1"}}},
            },
        }
    }
    diagnostics = Diagnostics()
    candidates = Candidates(diagnostics)
    candidates.config_map(Fields.of(cm("argocd-cm", installationID="tree"), "", Location("cm.yaml")), "tree")
    for config_map in objects_of_values(values):
        candidates.take(config_map, Location("values.yaml", 1), "chart")
    settings = candidates.settings()
    assert (settings["installationID"], settings.config["installationID"].level) == ("tree", "tree")
    assert settings.config["installationID"].overridden == (Location("values.yaml", 1),)
    assert (settings.enabled("helm"), settings.config["helm.enable"].level) == (False, "chart")
    assert settings["resource.exclusions"] == "- kinds:\n    - Lease"
    assert settings.parameter("application.namespaces") == "team-*"
    assert [(cluster.name, cluster.server, cluster.labels["tier"]) for cluster in settings.clusters] == [
        ("prod", "https://prod.example.com", "1")
    ]
    assert "url" not in settings.config
    assert diagnostics.collected() == ()
    for other in ({"configs": {"cm": {"log": "x"}}}, {"kind": "A", **values}, [], "text", {"configs": []}):
        assert list(objects_of_values(other)) == []


def cm(name: str, **data: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@pytest.mark.requirement("D21")
@pytest.mark.parametrize(
    ("name", "key", "severity", "hint"),
    [
        ("argocd-cm", "resource.exclusons", "warning", "did you mean 'resource.exclusions'?"),
        ("argocd-cm", "helm.enabled", "warning", "did you mean 'helm.enable'?"),
        ("argocd-cm", "resource.Inclusions", "warning", "did you mean 'resource.inclusions'?"),
        ("argocd-cm", "installtaionID", "warning", "did you mean 'installationID'?"),
        ("argocd-cm", "kustomize.options", "info", "did you mean 'kustomize.buildOptions'?"),
        ("argocd-cm", "helm.vvvvvvvvvvvvvv", "info", "leave it out"),
        ("argocd-cmd-params-cm", "application.namespace", "warning", "did you mean 'application.namespaces'?"),
    ],
)
def test_unknown_keys(name: str, key: str, severity: str, hint: str, tmp_path: Path) -> None:
    text = f"kind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  url: x\n  {key}: 'x'\n"
    (tmp_path / "cm.yaml").write_text(text)
    diagnostics = Diagnostics()
    read_settings([tmp_path / "cm.yaml"], DEFAULT_LIMITS, diagnostics)
    (diagnostic,) = diagnostics.collected()
    assert (diagnostic.code, diagnostic.severity, diagnostic.hint) == ("CMD-ARGO-122", severity, hint)
    assert [str(place) for place in diagnostic.locations] == [f"{tmp_path}/cm.yaml:5"]


@pytest.mark.requirement("D21")
def test_documented_keys_are_not_reported(tmp_path: Path) -> None:
    """Keys of all components of Argo CD, including keys that this program does not use."""
    keys = """
        url additionalUrls statusbadge.enabled users.anonymous.enabled passwordPattern ga.trackingid help.chatUrl
        help.download.linux-amd64 dex.config oidc.config oidc.tls.insecure.skip.verify repositories admin.enabled
        resource.customizations.health.cert-manager.io_Certificate resource.ignoreResourceUpdatesEnabled
        resource.customLabels resource.includeEventLabelKeys resource.excludeEventLabelKeys resource.respectRBAC
        resource.sensitive.mask.annotations resource.links application.links application.allowedNodeLabels
        application.sync.impersonation.enabled accounts.alice accounts.alice.enabled ui.cssurl timeout.reconciliation
        kustomize.path.v3.9.1 kustomize.version.v3.5.1 kustomize.buildOptions.v3.9.1 cluster.inClusterEnabled
        exec.enabled server.maxPodLogsToRender project.links extension.config webhook.maxPayloadSizeMB globalProjects
        commit.author.name sourceHydrator.commitMessageTemplate configManagementPlugins"""
    parameters = """
        repo.server redis.server hydrator.enabled otlp.address log.format.timestamp controller.log.level
        controller.diff.server.side server.insecure server.enable.gzip reposerver.parallelism.limit
        reposerver.enable.git.submodule reposerver.plugin.tar.exclusions reposerver.include.hidden.directories
        applicationsetcontroller.enable.git.submodule applicationsetcontroller.enable.scm.providers
        applicationsetcontroller.scm.root.ca.path notificationscontroller.log.level application.namespaces"""
    for number, (name, listed) in enumerate((("argocd-cm", keys), ("argocd-cmd-params-cm", parameters))):
        data = "".join(f"  {key}: ''\n" for key in listed.split())
        (tmp_path / f"{number}.yaml").write_text(f"kind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{data}")
    diagnostics = Diagnostics()
    read_settings([tmp_path / "0.yaml", tmp_path / "1.yaml"], DEFAULT_LIMITS, diagnostics)
    assert [diagnostic.message for diagnostic in diagnostics.collected()] == []
