"""Helm sources."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

import pytest

from commodore.argocd.configuration.profiles import PROFILES
from commodore.argocd.model.repository import KnownRepository
from commodore.argocd.rendering import Capabilities
from commodore.base.errors import CommodoreError
from tests.argocd.conftest import OTHER, Argo, chart

pytestmark = pytest.mark.tools


@pytest.fixture
def web(argo: Argo) -> Argo:
    argo.files(chart(), below="web")
    argo.files({"web/more.yaml": "b: more\n", "common/all.yaml": "c: all\n", "common/z/deep.yaml": "d: deep\n"})
    return argo


def helm(**options: Any) -> dict[str, Any]:
    return {"path": "web", "helm": options}


@pytest.mark.requirement("D47")
def test_names_and_namespaces(web: Argo) -> None:
    (data,) = web.objects({"path": "web"})
    assert data["metadata"] == {"name": "shop", "namespace": "web"}
    (data,) = web.objects(helm(releaseName="r", namespace="else"))
    assert data["metadata"] == {"name": "r", "namespace": "else"}
    assert [item.origin for item in web.render({"path": "web"})] == ["web/templates/all.yaml"]


@pytest.mark.requirement("D47")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"a": "chart"}),
        (
            {"valueFiles": ["more.yaml", "/common/all.yaml", "../common/all.yaml"]},
            {"a": "chart", "b": "more", "c": "all"},
        ),
        ({"values": "a: text"}, {"a": "text"}),
        ({"values": "a: text", "valuesObject": {"a": "no", "n": 1}}, {"a": "no", "n": 1}),
        ({"values": "a: text", "valuesObject": {}}, {"a": "chart"}),
        ({"values": "a: $ARGOCD_APP_NAME"}, {"a": "$ARGOCD_APP_NAME"}),
        ({"valueFiles": ["../common/**/*.yaml"]}, {"a": "chart", "c": "all", "d": "deep"}),
        ({"valueFiles": ["none.yaml", "*.none"], "ignoreMissingValueFiles": True}, {"a": "chart"}),
        ({"parameters": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]}, {"a": 2}),
        ({"parameters": [{"name": "a", "value": "1", "forceString": True}]}, {"a": "1"}),
        ({"parameters": [{"name": "a", "value": "1", "forceString": True}, {"name": "a", "value": "2"}]}, {"a": "1"}),
        ({"parameters": [{"name": "a", "value": "x,y"}]}, {"a": "x,y"}),
        ({"parameters": [{"name": "a", "value": "x\\,y"}]}, {"a": "x,y"}),
        ({"parameters": [{"name": "a", "value": "{x,y}"}]}, {"a": ["x", "y"]}),
        ({"parameters": [{"name": "a", "value": "$ARGOCD_APP_NAME-$$"}]}, {"a": "shop-$"}),
        ({"fileParameters": [{"name": "a", "path": "/common/all.yaml"}]}, {"a": "c: all\n"}),
        ({"valueFiles": ["../$ARGOCD_APP_SOURCE_PATH/more.yaml"]}, {"a": "chart", "b": "more"}),
        ({"values": "a: text", "parameters": [{"name": "a", "value": "p"}]}, {"a": "p"}),
    ],
)
def test_values(options: dict[str, Any], expected: dict[str, Any], web: Argo) -> None:
    assert web.values(helm(**options)) == expected


def test_the_order_of_value_files(web: Argo) -> None:
    """A file that is written out keeps its place, though a glob before it fits."""
    web.files({f"web/v/{name}.yaml": f"a: {name}\n" for name in "abc"})
    assert web.values(helm(valueFiles=["v/*.yaml", "v/a.yaml"]))["a"] == "a"
    assert web.values(helm(valueFiles=["v/a.yaml", "v/*.yaml", "v/a.yaml"]))["a"] == "c"


@pytest.mark.requirement("D32")
def test_value_files_of_another_source(argo: Argo) -> None:
    argo.files(chart(), below="web")
    argo.files({"v.yaml": "a: root\n", "env/v.yaml": "a: env\n"}, url=OTHER)
    ref = {"repoURL": OTHER, "ref": "values", "targetRevision": "main"}
    assert argo.values(helm(valueFiles=["$values/env/v.yaml"]), ref) == {"a": "env"}
    both = {**ref, "path": "env", "directory": {"include": "none"}}
    assert argo.values(helm(valueFiles=["$values/v.yaml"]), both) == {"a": "root"}
    files = [{"name": "a", "path": "$values/v.yaml"}]
    assert argo.values(helm(fileParameters=files), ref) == {"a": "a: root\n"}
    (other,) = argo.render(ref, helm())
    assert other.source == 2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"valueFiles": ["none.yaml"]}, "CMD-ARGO-407"),
        ({"valueFiles": ["none/*.yaml"]}, "CMD-ARGO-407"),
        ({"valueFiles": ["../common"]}, "CMD-ARGO-407"),
        ({"valueFiles": ["../../../etc/passwd"]}, "CMD-ARGO-408"),
        ({"valueFiles": ["/../../etc/passwd"]}, "CMD-ARGO-408"),
        ({"valueFiles": ["../../*/*.yaml"]}, "CMD-ARGO-408"),
        ({"valueFiles": ["/"]}, "CMD-ARGO-408"),
        ({"valueFiles": ["file:///etc/passwd"]}, "CMD-ARGO-320"),
        ({"valueFiles": ["git://example.com/x"]}, "CMD-ARGO-320"),
        ({"valueFiles": ["https://example.com/v.yaml"]}, "CMD-ARGO-310"),
        ({"values": "- a"}, "CMD-ARGO-409"),
        ({"releaseName": "Not_A_Name"}, "CMD-ARGO-405"),
        ({"fileParameters": [{"name": "a", "path": "../../x"}]}, "CMD-ARGO-408"),
        ({"fileParameters": [{"name": "a", "path": "none"}]}, "CMD-ARGO-405"),
        ({"kubeVersion": "banana"}, "CMD-ARGO-103"),
        ({"version": "v9"}, "CMD-ARGO-103"),
        ({"parameters": [{"name": "", "value": "x"}]}, "CMD-ARGO-103"),
        ({"valuesObject": []}, "CMD-ARGO-103"),
    ],
)
def test_what_is_refused(options: dict[str, Any], code: str, web: Argo) -> None:
    with pytest.raises(CommodoreError) as caught:
        web.objects(helm(**options))
    assert caught.value.code == code
    assert str(web.root) not in caught.value.message


@pytest.mark.parametrize(
    ("source", "says"),
    [({"helm": {"releaseName": "a"}}, "the block helm"), ({}, "a file whose name ends in Chart.yaml")],
)
def test_what_says_that_a_folder_is_a_chart(source: dict[str, Any], says: str, argo: Argo) -> None:
    argo.files({"web/SomeChart.yaml": "a: 1\n"})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "web", **source})
    assert (caught.value.code, caught.value.hint.startswith(says)) == ("CMD-ARGO-405", True)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../../../../etc/passwd"])
def test_a_repository_with_links_that_lead_out(target: str, web: Argo) -> None:
    os.symlink(target, web.folder() / "common" / "out.yaml")
    with pytest.raises(CommodoreError) as caught:
        web.objects({"path": "web"})
    assert caught.value.code == "CMD-ARGO-318"
    assert "common/out.yaml" in caught.value.message


def test_refs_that_lead_nowhere(web: Argo) -> None:
    ref = {"repoURL": OTHER, "ref": "values"}
    with pytest.raises(CommodoreError) as caught:
        web.objects(helm(valueFiles=["$vlaues/v.yaml"]), ref)
    assert caught.value.code == "CMD-ARGO-304"
    assert "values" in caught.value.hint
    for path in ("$values/../../x", "$values"):
        with pytest.raises(CommodoreError) as caught:
            web.objects(helm(valueFiles=[path]), ref)
        assert caught.value.code in ("CMD-ARGO-408", "CMD-ARGO-407")


def test_capabilities(web: Argo) -> None:
    web.capabilities = Capabilities("1.29", ("example.com/v1/Thing",))
    (data,) = web.objects({"path": "web"})
    assert (data["data"]["kube"], data["data"]["has"]) == ("v1.29.0", "true")
    (data,) = web.objects(helm(kubeVersion="v1.31.4-gke.1", apiVersions=["example.com/v2/Thing"]))
    assert (data["data"]["kube"], data["data"]["has"]) == ("v1.31.4", "false")


def test_apis_come_in_the_order_of_argo_cd(web: Argo) -> None:
    """Sorted, each once; those of the source as written. Helm lists them behind its own."""
    web.files(
        {"web/templates/apis.yaml": "kind: A\nmetadata: {name: {{ .Capabilities.APIVersions | toJson | quote }}}\n"}
    )
    web.capabilities = Capabilities("", ("z.io/v1", "v1", "a.io/v1/K", "z.io/v1"))
    for given, expected in (({}, ["a.io/v1/K", "v1", "z.io/v1"]), ({"apiVersions": ["z", "a"]}, ["z", "a"])):
        (name,) = (data["metadata"]["name"] for data in web.objects(helm(**given)) if data["kind"] == "A")
        assert json.loads(name)[-len(expected) :] == expected


@pytest.mark.requirement("D3", "D28")
@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('password: {{ (lookup "v1" "Secret" .Release.Namespace "x") | toJson | quote }}', True),
        ("a: lookup\nb: {{ .Values.lookup }}", False),
    ],
)
def test_charts_that_ask_the_cluster(text: str, asks: bool, argo: Argo) -> None:
    template = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{text}\n"
    argo.files(chart(**{"templates/secret.yaml": template}), below="web")
    assert len(argo.objects({"path": "web"})) == 2
    assert [
        "secret.yaml" in diagnostic.message
        for diagnostic in argo.diagnostics.collected()
        if diagnostic.code == "CMD-ARGO-414"
    ] == [True] * asks


@pytest.mark.requirement("D85")
@pytest.mark.parametrize(("value", "is_random"), [("{{ randAlphaNum 8 }}", True), ("{{ .Values.a }}", False)])
def test_charts_with_random_values(value: str, is_random: bool, argo: Argo) -> None:
    """Otherwise a comparison would show them as a change, without a word."""
    template = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  r: '{value}'\n"
    argo.files(chart(**{"templates/r.yaml": template}), below="web")
    argo.objects({"path": "web"})
    shown = [diagnostic for diagnostic in argo.diagnostics.collected() if diagnostic.code == "CMD-ARGO-429"]
    assert [("r.yaml" in diagnostic.message, diagnostic.actionable) for diagnostic in shown] == [
        (True, True)
    ] * is_random


def test_crds_tests_and_schemas(argo: Argo) -> None:
    files = {
        "crds/a.yaml": "kind: CustomResourceDefinition\nmetadata: {name: a}\n",
        "templates/tests/t.yaml": "kind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n",
        "values.schema.json": '{"required": ["must"]}',
    }
    argo.files(chart(**files), below="web")
    with pytest.raises(CommodoreError):
        argo.objects({"path": "web"})
    kinds = [data["kind"] for data in argo.objects(helm(skipSchemaValidation=True))]
    assert sorted(kinds) == ["ConfigMap", "CustomResourceDefinition", "Pod"]
    options = {"skipSchemaValidation": True, "skipCrds": True, "skipTests": True}
    assert [data["kind"] for data in argo.objects(helm(**options))] == ["ConfigMap"]


@pytest.mark.parametrize(
    ("names", "is_reported"),
    [(("b", "b.c"), True), (("b[0]", "b"), True), (("b.c", "b.cd"), False), (("b.c", "c"), False)],
)
def test_parameters_that_overlap(names: tuple[str, ...], is_reported: bool, argo: Argo) -> None:
    """In Argo CD their order is random."""
    argo.files(chart(), below="web")
    parameters = [{"name": name, "value": "null"} for name in names]
    parameters.append({"name": "b.d", "value": "1", "forceString": True})  # given after the others in any case
    with contextlib.suppress(CommodoreError):  # in this order helm may refuse them
        argo.objects({"path": "web", "helm": {"parameters": parameters}})
    assert ("CMD-ARGO-426" in argo.codes()) == is_reported


@pytest.mark.requirement("D44")
def test_dependencies_are_put_into_a_copy(argo: Argo) -> None:
    dependencies = "dependencies:\n- {name: sub, version: 1.2.3, repository: file://../sub}\n"
    argo.files(chart(**{"Chart.yaml": f"apiVersion: v2\nname: web\nversion: 1.0.0\n{dependencies}"}), below="web")
    argo.files(chart("sub"), below="sub")
    before = sorted(argo.folder().rglob("*"))
    assert len(argo.objects({"path": "web"})) == 2
    assert sorted(argo.folder().rglob("*")) == before


@pytest.mark.parametrize(
    ("repository", "code"),
    [
        ("file://../../..", "CMD-ARGO-408"),
        ("file://../none", "CMD-ARGO-406"),
        ("'@private'", "CMD-ARGO-406"),
        ("https://charts.example.com", "CMD-ARGO-310"),
        ("oci://registry.example.com/charts", "CMD-ARGO-310"),
    ],
)
def test_dependencies_that_cannot_be_had(repository: str, code: str, argo: Argo) -> None:
    dependencies = f"dependencies:\n- {{name: sub, version: 1.2.3, repository: {repository}}}\n"
    argo.files(chart(**{"Chart.yaml": f"apiVersion: v2\nname: web\nversion: 1.0.0\n{dependencies}"}), below="web")
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "web"})
    assert caught.value.code == code


@pytest.mark.parametrize(
    "listed", ["{name: sub, version: 1.2.3, repository: file://../none}", "{name: sub, version: 1.2.3}", "{version: 1}"]
)
@pytest.mark.parametrize(("version", "file"), [("v1", "requirements.yaml"), ("v2", "Chart.yaml")])
def test_the_file_that_lists_a_dependency_is_named(version: str, file: str, listed: str, argo: Argo) -> None:
    metadata, dependencies = f"apiVersion: {version}\nname: web\nversion: 1.0.0\n", f"dependencies:\n- {listed}\n"
    content = {"Chart.yaml": metadata + dependencies * (version == "v2")}
    if version == "v1":
        content[file] = dependencies
    argo.files(chart(**content), below="web")
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "web"})
    assert caught.value.code == "CMD-ARGO-406"
    assert str(caught.value.locations[-1]).endswith(file)


@pytest.mark.parametrize(("name", "code"), [("private", "CMD-ARGO-310"), ("git", "CMD-ARGO-406")])
@pytest.mark.parametrize("form", ["'@{}'", "alias:{}"])
def test_dependencies_in_repositories_that_are_known_by_name(form: str, name: str, code: str, argo: Argo) -> None:
    """The repository that the name stands for is asked, or would be; one of git has no charts."""
    argo.repositories = (
        KnownRepository("charts.example.com/team", "helm", "private", template=True),
        KnownRepository("charts.example.com/team", "helm", "private", enable_oci=True),
        KnownRepository("https://git.example.com", "git", "git"),
    )
    dependencies = f"dependencies:\n- {{name: sub, version: 1.2.3, repository: {form.format(name)}}}\n"
    argo.files(chart(**{"Chart.yaml": f"apiVersion: v2\nname: web\nversion: 1.0.0\n{dependencies}"}), below="web")
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "web"})
    assert caught.value.code == code
    assert ("sub 1.2.3 of oci://charts.example.com/team" in caught.value.message) is (code == "CMD-ARGO-310")


def test_templates_that_fail(argo: Argo) -> None:
    argo.files(chart(**{"templates/all.yaml": '{{ required "a colour is wanted" .Values.colour }}'}), below="web")
    with pytest.raises(CommodoreError, match="a colour is wanted") as caught:
        argo.objects({"path": "web"})
    assert caught.value.code == "CMD-ARGO-405"


@pytest.mark.parametrize("text", ["a: b\n", "- a\n", "apiVersion: v1\n"])
def test_output_that_is_no_object(text: str, argo: Argo) -> None:
    argo.files(chart(**{"templates/all.yaml": text}), below="web")
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "web"})
    assert caught.value.code in ("CMD-ARGO-417", "CMD-ARGO-405")


def test_a_helm_block_needs_a_chart(argo: Argo) -> None:
    argo.files({"web/a.yaml": "kind: A\n"})
    with pytest.raises(CommodoreError) as caught:
        argo.objects(helm(releaseName="x"))
    assert caught.value.code == "CMD-ARGO-405"


def test_without_helm(web: Argo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CommodoreError) as caught:
        web.objects({"path": "web"})
    assert caught.value.code == "CMD-ARGO-413"


@pytest.mark.requirement("D33")
def test_a_value_file_that_another_source_lacks_is_named_with_its_ref(argo: Argo) -> None:
    argo.files(chart())
    with pytest.raises(CommodoreError) as caught:
        argo.values({"path": ".", "helm": {"valueFiles": ["$vals/x"]}}, {"ref": "vals"})
    assert "'$vals/x' does not exist" in caught.value.message
    assert "$vals begins at the root of the repository" in caught.value.hint


@pytest.mark.requirement("D80")
def test_older_versions_of_argo_cd(argo: Argo) -> None:
    """They know no patterns of value files, no helm 4, and hand versions of Kubernetes on as they are."""
    argo.files(chart(**{"v-1.yaml": "a: 1\n", "v-2.yaml": "b: 2\n"}))
    source = {"path": ".", "helm": {"valueFiles": ["v-*.yaml"]}}
    assert argo.values(source) == {"a": 1, "b": 2}
    (made,) = argo.objects({"path": ".", "helm": {"version": "v4", "kubeVersion": "v1.30"}})
    assert made["data"]["kube"] == "v1.30.0"
    argo.profile = PROFILES[0]
    with pytest.raises(CommodoreError) as caught:
        argo.values(source)
    assert caught.value.code == "CMD-ARGO-407"
    with pytest.raises(CommodoreError, match=r"Argo CD 3\.0 has no helm v4"):
        argo.values({"path": ".", "helm": {"version": "v4"}})
