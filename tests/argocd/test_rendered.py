"""Applications rendered into streams and folders, and their options."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from commodore import argocd
from commodore.argocd import Installation, Options, Tree
from commodore.argocd.operations.layout import MARKER, stream, write_layout
from commodore.argocd.operations.rendered import RenderedApplication
from commodore.argocd.rendering import Rendered
from commodore.argocd.trees import Tree as Files
from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError, UsageError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml.kube_yaml import read_documents
from tests.argocd.comparing.conftest import app, config
from tests.argocd.conftest import chart

pytestmark = pytest.mark.tools

URL = "https://git.example.com/team/shop.git"
OFFLINE = Options(context=Context(ignore, DEFAULT_LIMITS, offline=True)).having(self_url=(URL,))


def write(folder: Path, files: dict[str, Any]) -> Tree:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return Tree.folder(folder)


def rendered(tree: Tree, **options: Any) -> argocd.Rendering:
    return argocd.render(tree, OFFLINE.having(**options))


def thing(kind: str, name: str, namespace: str = "", group: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": metadata}


def made(*objects: dict[str, Any], instance: str = "web") -> RenderedApplication:
    return RenderedApplication(
        f"argocd/{instance}", tuple(Rendered(item, "a.yaml", 1) for item in objects), None, instance
    )


def test_order(tmp_path: Path) -> None:
    objects = [thing("Service", "z"), thing("Namespace", "n"), thing("ConfigMap", "b"), thing("ConfigMap", "a")]
    files = {f"web/{number}.json": item for number, item in enumerate(objects)}
    tree = write(tmp_path, {"web.json": app("web", "web"), **files})

    def names(**options: Any) -> list[str]:
        return [
            application.data["metadata"]["name"] for application in rendered(tree, **options).applications[0].objects
        ]

    assert names() == ["n", "a", "b", "z"]
    assert names(order="source") == ["z", "n", "b", "a"]
    given = argocd.render(tree, OFFLINE, stage="manifests").applications[0].objects
    assert [item.data["metadata"]["name"] for item in given] == ["z", "n", "b", "a"]
    assert all("namespace" not in item.data["metadata"] for item in given)


def test_places_that_are_stripped(tmp_path: Path) -> None:
    spec = {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]}
    files = {
        "web.json": app("web", "web"),
        "web/c.json": config(k="1"),
        "web/p.json": {**thing("Pod", "p"), "spec": spec},
    }
    tree = write(tmp_path, files)
    strip = ("/metadata/annotations", "Pod:/spec/containers/*/image", "ConfigMap:/data/missing")
    config_map, pod = (application.data for application in rendered(tree, strip=strip).applications[0].objects)
    assert [item["metadata"] for item in (config_map, pod)] == [
        {"name": name, "namespace": "web"} for name in ("config", "p")
    ]
    assert config_map["data"] == {"k": "1"}
    assert pod["spec"] == {"containers": [{"name": "a"}, {"name": "b"}]}


def test_a_stream_says_where_objects_are_from() -> None:
    text = stream([made(thing("ConfigMap", "a"), thing("ConfigMap", "b"))])
    assert text.startswith("# argocd/web, source 1, a.yaml\n")
    assert [item["metadata"]["name"] for item in read_documents(text, place="x")] == ["a", "b"]
    odd = RenderedApplication("argocd/web", (Rendered(thing("A", "a"), "x\nkind: B", 1),))
    assert [item["kind"] for item in read_documents(stream([odd]), place="x")] == ["A"]


def paths(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def test_a_file_for_each_application(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert write_layout([made(thing("A", "a")), made(instance="none")], folder, "app", {}) == 1
    assert paths(folder) == [MARKER, "web.yaml"]
    assert write_layout([made(thing("A", "a"), instance="team_other")], folder, "app", {}) == 1
    assert paths(folder) == [MARKER, "team_other.yaml"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_for_each_object(tmp_path: Path) -> None:
    objects = (
        thing("Deployment", "Web", "shop", "apps"),
        thing("Deployment", "web", "shop", "apps"),
        thing("Namespace", "shop"),
        thing("Role", "system:x/../y", "shop", "rbac.authorization.k8s.io"),
    )
    write_layout([made(*objects)], tmp_path / "out", "object", {})
    assert paths(tmp_path / "out") == [
        MARKER,
        "web/_cluster/namespace-shop.yaml",
        "web/shop/deployment.apps-web.yaml",
        "web/shop/deployment.apps-web~2.yaml",
        "web/shop/role.rbac.authorization.k8s.io-system~x~..~y.yaml",
    ]


def test_folders_that_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    own = {"": Files(tmp_path / "tree", "", "x")}
    for folder in (tmp_path / "tree" / "out", tmp_path / "tree", tmp_path):
        with pytest.raises(PolicyError) as error:
            write_layout([made(thing("A", "a"))], folder, "app", own)
        assert error.value.code == "CMD-ARGO-012"
    other = tmp_path / "other"
    write(other, {"mine.txt": "x"})
    with pytest.raises(UsageError) as usage:
        write_layout([made(thing("A", "a"))], other, "app", own)
    assert usage.value.code == "CMD-ARGO-031"
    assert paths(other) == ["mine.txt"]


def test_what_options_say_of_the_installation(tmp_path: Path) -> None:
    tree = write(tmp_path / "shop", {"web.json": app("web", "web"), "web/c.json": config(k="1")})
    write(
        tmp_path,
        {
            "cm.yaml": "application.resourceTrackingMethod: label\n",
            "whole.yaml": "kind: ConfigMap\nmetadata: {name: argocd-cm, namespace: cd}\ndata: {installationID: x}\n",
            "params.yaml": "reposerver.allow.oob.symlinks: true\n",
            "other.yaml": "kind: ConfigMap\nmetadata: {name: other}\n",
        },
    )

    def values(**options: Any) -> dict[str, tuple[str, str]]:
        result = argocd.settings(tree, dataclasses.replace(OFFLINE, installation=Installation(**options)))
        assert not result.partial
        return {
            "namespace": (result.namespace, ""),
            **{setting.key: (setting.value, setting.level) for setting in result.settings},
        }

    cm, whole = tmp_path / "cm.yaml", tmp_path / "whole.yaml"
    result = values(argocd_cm=(cm, whole), argocd_cmd_params_cm=(tmp_path / "params.yaml",))
    assert result["application.resourceTrackingMethod"] == ("label", "option")
    assert result["installationID"] == ("x", "option")
    assert result["reposerver.allow.oob.symlinks"] == ("true", "option")
    assert result["namespace"][0] == "cd"
    assert values(argocd_cm=(whole,), namespace="argo")["namespace"][0] == "argo"
    assert values(kustomize_build_options=("--enable-helm", "-x"))["kustomize.buildOptions"] == (
        "--enable-helm -x",
        "option",
    )
    assert values()["resource.exclusions"] == ("", "default")
    shipped = values(shipped_defaults=True)["resource.exclusions"]
    assert (shipped[1], "EndpointSlice" in shipped[0], "ClusterEphemeralReport" in shipped[0]) == (
        "default",
        True,
        True,
    )
    with pytest.raises(InputError, match="must hold the ConfigMap argocd-cm"):
        values(argocd_cm=(tmp_path / "other.yaml",))


def test_settings_of_several_installations(tmp_path: Path) -> None:
    """Conflicts between the same places are one warning."""
    whole = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {installationID: %s, kustomize.buildOptions: --%s%s}\n"
    more = {"a": "", "b": "", "c": ", application.instanceLabelKey: x", "d": ", application.instanceLabelKey: y"}
    tree = write(tmp_path, {f"{name}.yaml": whole % (name, name, extra) for name, extra in more.items()})
    result = argocd.settings(tree, OFFLINE)
    said = [
        (item.message, [place.place for place in item.locations])
        for item in result.diagnostics
        if item.code[-3:] == "120"
    ]
    times = "set {} to different values; the first one counts"
    assert said == [
        (
            f"the settings installationID, kustomize.buildOptions are {times.format('4 times')}",
            [f"{n}.yaml" for n in "abcd"],
        ),
        (f"the setting application.instanceLabelKey is {times.format('twice')}", ["c.yaml", "d.yaml"]),
    ]
    assert argocd.settings(tree, OFFLINE.having(strict=True)).partial


def test_bad_settings_of_a_tree_are_told(tmp_path: Path) -> None:
    cm = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {application.resourceTrackingMethod: x}\n"
    tree = write(tmp_path, {"cm.yaml": cm})
    assert "CMD-ARGO-121" in {diagnostic.code for diagnostic in argocd.settings(tree, OFFLINE).diagnostics}


def test_kinds_that_argo_cd_ships_as_excluded(tmp_path: Path) -> None:
    files = {"web/e.json": thing("Endpoints", "e"), "web/c.json": config(k="1")}
    tree = write(tmp_path, {"web.json": app("web", "web"), **files})
    for shipped, count in ((False, 2), (True, 1)):
        assert len(rendered(tree, installation=Installation(shipped_defaults=shipped)).applications[0].objects) == count


@pytest.mark.requirement("D20")
def test_namespaces_in_which_applications_count(tmp_path: Path) -> None:
    there = json.loads(app("other", "web"))
    there["metadata"]["namespace"] = "team-a"
    files = {"web.json": app("web", "web"), "other.json": there, "web/c.json": config(k="1")}
    tree = write(tmp_path, files)

    def names(**options: Any) -> tuple[list[str], list[str]]:
        result = argocd.list_applications(tree, dataclasses.replace(OFFLINE, installation=Installation(**options)))
        return [application.name for application in result.applications], [
            diagnostic.code for diagnostic in result.diagnostics if diagnostic.severity != "info"
        ]

    assert names() == (["web", "other"], [])
    assert names(application_namespaces=("team-*",)) == (["web", "other"], [])
    assert names(application_namespaces=("/^team-.$/", "x")) == (["web", "other"], [])
    assert names(application_namespaces=("x",)) == (["web"], ["CMD-ARGO-605"])
    assert names(application_namespaces=("x",), namespace="team-a") == (["other"], ["CMD-ARGO-605"])


def test_paths_in_which_nothing_is_looked_for(tmp_path: Path) -> None:
    files = {
        "web.json": app("web", "web"),
        "examples/deep/x.json": app("x", "web"),
        "examples/bad.yaml": "a: [argocd-cm",
    }
    tree = write(tmp_path, {**files, "web/c.json": config(k="1")})
    for pattern, names, codes in (
        ("none", {"web", "x"}, {"CMD-ARGO-102"}),
        ("examples/deep", {"web"}, {"CMD-ARGO-102"}),
        ("examples", {"web"}, set()),
        ("examples/**", {"web"}, set()),
    ):
        result = argocd.list_applications(tree, OFFLINE.having(ignore_path=(pattern,)))
        assert {application.name for application in result.applications} == names
        assert {diagnostic.code for diagnostic in result.diagnostics} - {"CMD-ARGO-910"} == codes


def test_dry_sources(tmp_path: Path) -> None:
    hydrator = {
        "drySource": {"repoURL": URL, "path": "dry", "targetRevision": "HEAD"},
        "syncSource": {"targetBranch": "main", "path": "wet"},
    }
    hydrated = json.loads(app("web", "x"))
    del hydrated["spec"]["source"]
    hydrated["spec"]["sourceHydrator"] = hydrator
    files = {"web.json": hydrated, "dry/c.json": config(k="dry"), "wet/c.json": config(k="wet")}
    base, target = (write(tmp_path / name, files) for name in ("base", "target"))

    def data(**options: Any) -> str:
        return str(rendered(target, **options).applications[0].objects[0].data["data"]["k"])

    assert (data(), data(dry_sources=True)) == ("wet", "dry")
    write(tmp_path / "target", {"dry/c.json": config(k="changed")})
    for dry, changed in ((None, True), (True, True), (False, False)):
        assert argocd.diff(base, target, OFFLINE.having(dry_sources=dry)).changed is changed


def test_a_time_limit_for_sources(tmp_path: Path) -> None:
    from commodore.argocd.operations.session import open_session

    with open_session(OFFLINE) as session:
        assert session.context.limits == DEFAULT_LIMITS
    with open_session(OFFLINE.having(timeout=3)) as session:
        assert session.context.limits.argocd_source_seconds == 3


def test_what_charts_are_told_of_their_cluster(tmp_path: Path) -> None:
    """Facts of the destination take precedence over options, and fields of the source over both."""
    template = (
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\ndata:\n  kube: {{ .Capabilities.KubeVersion.Version }}\n"
    )
    template += '  api: {{ .Capabilities.APIVersions.Has "acme.io/v1" | quote }}\n'
    files = {f"web/{name}": text for name, text in chart(**{"templates/all.yaml": template}).items()}
    for name, destination in (
        ("a", {"name": "prod"}),
        ("b", {"server": "https://prod"}),
        ("c", {"name": "in-cluster"}),
    ):
        files[f"{name}.json"] = app(name, "web", destination={**destination, "namespace": "x"})
    own = {"repoURL": URL, "path": "web", "helm": {"kubeVersion": "1.33"}}
    files["d.json"] = app("d", "web", destination={"name": "prod", "namespace": "x"}, source=own)
    facts = tmp_path / "facts.yaml"
    facts.write_text("clusters: [{name: prod, server: https://prod, kubeVersion: v1.31, apiVersions: [acme.io/v1]}]")
    made = rendered(write(tmp_path / "shop", files), facts=(facts,), kube_version="1.30")
    told = [application.objects[0].data["data"] for application in made.applications]
    assert [(diagnostic["kube"], diagnostic["api"]) for diagnostic in told] == [
        ("v1.31.0", "true"),
        ("v1.31.0", "true"),
        ("v1.30.0", "false"),
        ("v1.33.0", "true"),
    ]


@pytest.mark.requirement("D84")
def test_objects_of_sources_that_render_are_given_if_another_source_fails(tmp_path: Path) -> None:
    sources = [{"repoURL": URL, "path": "web"}, {"repoURL": URL, "path": "none"}]
    tree = write(tmp_path, {"web.json": app("web", "none", sources=sources), "web/a.json": thing("ConfigMap", "a")})
    given = rendered(tree)
    (application,) = given.applications
    assert (application.partial, given.partial, [each.data["metadata"]["name"] for each in application.objects]) == (
        True,
        True,
        ["a"],
    )
    assert application.error is not None
    assert application.error.code == "CMD-ARGO-309"
    assert [each.code for each in given.diagnostics if each.severity == "error"] == ["CMD-ARGO-309"]
    assert stream([application]).startswith("# argocd/web, source 1, a.json, partial: another source fails\n")
