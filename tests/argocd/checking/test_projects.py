"""The rules of AppProjects."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.argocd import ArgoSettings, Diagnostics
from commodore.argocd.checking.projects import Projects, allows_destination, allows_kind, allows_repository
from commodore.argocd.configuration.model import DEFAULTS, LocatedValue, with_defaults
from commodore.argocd.model import Cluster
from commodore.argocd.model.application import read_application
from commodore.argocd.model.project import Project, read_project
from commodore.argocd.rendering import Rendered
from commodore.base.errors import Location

PLACE = Location("project.yaml", 1)
ORG = "https://git.example.com/org"


def raw(name: str = "p", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"kind": "AppProject", "metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def project(**spec: Any) -> Project:
    return read_project(raw(**spec), PLACE)


@pytest.mark.requirement("D75")
@pytest.mark.parametrize(
    ("patterns", "url", "allowed"),
    [
        ([], f"{ORG}/a", False),
        (["*"], f"{ORG}/a", True),
        ([f"{ORG}/A.git/"], f"{ORG}/a", True),
        ([f"{ORG}/*"], f"{ORG}/a", True),
        ([f"{ORG}/*"], f"{ORG}/a/b", False),
        ([f"{ORG}/**"], f"{ORG}/a/b", True),
        (["git@git.example.com:org/*"], "ssh://git@git.example.com/org/a", True),
        (["*", f"!{ORG}/a"], f"{ORG}/a", False),
        ([f"!{ORG}/a", "*"], f"{ORG}/a", False),
        ([f"!{ORG}/a"], f"{ORG}/b", True),
        ([f"{ORG}/[a-c]"], f"{ORG}/d", False),
    ],
)
def test_repositories(patterns: list[str], url: str, allowed: bool) -> None:
    assert allows_repository(project(sourceRepos=patterns), url) is allowed


S, N = "https://s", "prod"


@pytest.mark.requirement("D75")
@pytest.mark.parametrize(
    ("entries", "allowed"),
    [
        ([], False),
        ([{"server": "*", "namespace": "*"}], True),
        ([{"server": S, "namespace": "w*"}], True),
        ([{"name": N, "namespace": "web"}], True),
        ([{"name": "other", "namespace": "web"}], False),
        ([{"server": S, "namespace": "api"}], False),
        ([{"server": S}], False),
        ([{"server": "*", "namespace": "*"}, {"server": S, "namespace": "!web"}], False),
        ([{"server": "*", "namespace": "*"}, {"server": S, "namespace": "!api"}], True),
        ([{"server": S, "namespace": "!api"}], True),
        ([{"server": "*", "namespace": "*"}, {"server": f"!{S}", "namespace": "*"}], False),
        ([{"server": "*", "namespace": "*"}, {"server": f"!{S}", "namespace": "api"}], True),
        ([{"server": "*", "namespace": "*"}, {"name": f"!{N}", "namespace": "api"}], False),
    ],
)
def test_destinations(entries: list[dict[str, str]], allowed: bool) -> None:
    assert allows_destination(project(destinations=entries), S, N, "web") is allowed


@pytest.mark.parametrize(
    ("spec", "kind", "allowed"),
    [
        ({}, ("", "Service", True), True),
        ({}, ("", "Namespace", False), False),
        ({"clusterResourceWhitelist": []}, ("", "Namespace", False), False),
        ({"clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}, ("rbac", "ClusterRole", False), True),
        (
            {"clusterResourceWhitelist": [{"group": "", "kind": "Name*", "name": "team-*"}]},
            ("", "Namespace", False),
            False,
        ),
        ({"namespaceResourceWhitelist": []}, ("", "Service", True), False),
        ({"namespaceResourceWhitelist": [{"group": "apps", "kind": "*"}]}, ("", "Service", True), False),
        ({"namespaceResourceBlacklist": [{"group": "", "kind": "Service"}]}, ("", "Service", True), False),
        (
            {
                "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
                "clusterResourceBlacklist": [{"group": "", "kind": "Namespace"}],
            },
            ("", "Namespace", False),
            False,
        ),
    ],
)
def test_kinds(spec: dict[str, Any], kind: tuple[str, str, bool], allowed: bool) -> None:
    group, name, namespaced = kind
    assert allows_kind(project(**spec), group, name, "web", namespaced=namespaced) is allowed


def told(
    *projects: dict[str, Any],
    namespace: str = "",
    objects: tuple[dict[str, Any], ...] = (),
    config: str = "",
    clusters: tuple[Cluster, ...] = (),
    **spec: Any,
) -> list[str]:
    """Return the codes of diagnostics about an Application of the project `p`, and about projects themselves."""
    settings = ArgoSettings(
        config=with_defaults({"globalProjects": LocatedValue(config, "option")} if config else {}, DEFAULTS),
        clusters=clusters,
        projects=tuple((project, PLACE) for project in projects),
    )
    value = {
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {
            "project": "p",
            "destination": {"server": S, "namespace": "web"},
            "source": {"repoURL": ORG, "path": "."},
            **spec,
        },
    }
    diagnostics = Diagnostics()
    Projects(settings, diagnostics, "error").check(
        read_application(value, Location("app.yaml", 1)), [Rendered(data) for data in objects], diagnostics
    )
    return [diagnostic.code.removeprefix("CMD-ARGO-") for diagnostic in diagnostics.collected()]


ALL = {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}


@pytest.mark.requirement("D75")
def test_what_is_told_about_an_application() -> None:
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "other"}}
    assert told() == ["608"]
    assert told(raw(**ALL), objects=(service,)) == []
    assert told(raw("q", **ALL)) == ["601"]
    assert told(raw("q", **ALL), project="default") == []
    assert told(raw(destinations=ALL["destinations"])) == ["602"]
    assert told(raw(**{**ALL, "destinations": [{"server": S, "namespace": "web"}]}), objects=(service,)) == ["603"]
    assert told(raw(**ALL), objects=({"kind": "Namespace", "metadata": {"name": "n"}},)) == ["604"]
    assert told(raw(**ALL, roles=[{"name": "r"}])) == ["608"]
    assert told(raw(sourceRepos=5)) == ["103", "608"]


def test_applications_in_other_namespaces() -> None:
    for patterns, codes in (([], ["605"]), (["team-*"], []), (["/^team-[ab]$/"], []), (["/^x/"], ["605"])):
        assert told(raw(**ALL, sourceNamespaces=patterns), namespace="team-a") == codes
    assert told(raw(**ALL), namespace="argocd") == []


def test_global_projects_are_joined() -> None:
    config = "- {labelSelector: {matchLabels: {team: a}}, projectName: g}\n"
    denied = raw("g", namespaceResourceBlacklist=[{"group": "", "kind": "Service"}])
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "web"}}
    assert told(raw(labels={"team": "a"}, **ALL), denied, config=config, objects=(service,)) == ["604"]
    assert told(raw(labels={"team": "b"}, **ALL), denied, config=config, objects=(service,)) == []


def test_clusters_by_name() -> None:
    by_server = raw(**{**ALL, "destinations": [{"server": S, "namespace": "*"}]})
    destination = {"name": N, "namespace": "web"}
    assert told(by_server, destination=destination) == ["607"]
    assert told(by_server, destination=destination, clusters=(Cluster(N, S),)) == []
    scoped = raw(**ALL, permitOnlyProjectScopedClusters=True)
    assert told(scoped, clusters=(Cluster(N, S),)) == ["603"]
    assert told(scoped, clusters=(Cluster(N, S, project="p"),)) == []
