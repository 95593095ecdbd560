"""Sources of an Application: which are rendered, as what, and with which overrides."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from commodore.argocd.rendering import PartlyRendered
from commodore.base.errors import CommodoreError
from tests.argocd.conftest import OTHER, URL, Argo, chart, config_map


def names(objects: list[dict[str, Any]]) -> list[str]:
    return [data["metadata"]["name"] for data in objects]


@pytest.mark.requirement("D29", "D30", "D31")
def test_sources_win_over_source_and_keep_their_order(argo: Argo) -> None:
    argo.files({f"{name}/a.yaml": config_map(name) for name in "abc"})
    argo.files({"d.yaml": config_map("d")}, url=OTHER)
    several = [{"path": "c"}, {"ref": "values"}, {"path": "a"}, {"repoURL": OTHER, "path": "."}]
    rendered = argo.render(*several, source={"repoURL": URL, "path": "b"})
    assert [(item.source, item.data["metadata"]["name"]) for item in rendered] == [(1, "c"), (3, "a"), (4, "d")]
    assert names(argo.objects({"path": "b"}, sources=[])) == ["b"]


@pytest.mark.requirement("D84")
def test_every_source_that_fails_is_named_and_the_others_are_given(argo: Argo) -> None:
    argo.files({"a/a.yaml": config_map("a")})
    with pytest.raises(PartlyRendered) as caught:
        argo.objects({"path": "none"}, {"path": "a"}, {"path": "../x"})
    assert [error.message.partition(":")[0] for error in caught.value.errors] == ["source 1", "source 3"]
    assert [(item.source, item.data["metadata"]["name"]) for item in caught.value.objects] == [(2, "a")]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.errors[0].message, copy.objects) == (caught.value.errors[0].message, caught.value.objects)


@pytest.mark.tools
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.yaml": config_map("a")}, ["a"]),
        ({"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: k-\n", "a.yaml": config_map("a")}, ["k-a"]),
        ({"Kustomization": "resources: [a.yaml]\nnamePrefix: k-\n", "a.yaml": config_map("a")}, ["k-a"]),
        (chart(), ["shop"]),
        ({**chart(), "kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": config_map("a")}, ["a"]),
    ],
)
def test_the_type_is_looked_for(files: dict[str, str], expected: list[str], argo: Argo) -> None:
    argo.files(files, below="app")
    for directory in ({}, {"directory": {"recurse": False}}, {"kustomize": {"forceCommonLabels": True}}):
        assert names(argo.objects({"path": "app", **directory})) == expected


def test_a_type_that_is_switched_off_is_a_directory(argo: Argo) -> None:
    argo.files({"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: k-\n", "a.yaml": config_map("a")})
    argo.config["kustomize.enable"] = "no"
    assert names(argo.objects({"path": "."})) == ["a"]


@pytest.mark.tools
def test_overrides_of_the_folder(argo: Argo) -> None:
    argo.files(chart(), below="web")
    argo.files(
        {
            ".argocd-source.yaml": "path: elsewhere\nhelm: {parameters: [{name: a, value: x}], releaseName: r}\n",
            ".argocd-source-team_shop.yaml": "helm: {releaseName: null, valuesObject: {b: 1}}\n",
            ".argocd-source-other.yaml": "helm: {releaseName: other}\n",
        },
        below="web",
    )
    source = {"path": "web", "helm": {"parameters": [{"name": "c", "value": "lost"}]}}
    (data,) = argo.objects(source)
    assert data["metadata"]["name"] == "r"
    assert argo.values(source) == {"a": "x"}
    (data,) = argo.objects(source, metadata={"namespace": "team"})
    assert data["metadata"]["name"] == "shop"
    assert argo.values(source, metadata={"namespace": "team"}) == {"a": "x", "b": 1}


@pytest.mark.parametrize(
    ("text", "code"), [("a: [", "CMD-ARGO-308"), ("- a", "CMD-ARGO-308"), ("helm: 1", "CMD-ARGO-103")]
)
def test_bad_overrides(text: str, code: str, argo: Argo) -> None:
    argo.files({".argocd-source.yaml": text})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../other", "CMD-ARGO-309"),
        ("/abs", "CMD-ARGO-309"),
        ("a.yaml", "CMD-ARGO-309"),
        ("a/../../b", "CMD-ARGO-309"),
        ("none", "CMD-ARGO-309"),
        ("a\0b", "CMD-ARGO-309"),
    ],
)
def test_paths_stay_in_the_repository(path: str, code: str, argo: Argo) -> None:
    argo.files({"a.yaml": config_map("a")})
    argo.files({"b/a.yaml": config_map("b")}, url=OTHER)
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": path})
    assert caught.value.code == code


@pytest.mark.requirement("D54")
def test_plugins_are_not_run(argo: Argo) -> None:
    argo.files({"a.yaml": config_map("a")})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": ".", "plugin": {}})
    assert caught.value.code == "CMD-ARGO-420"


@pytest.mark.tools
def test_unknown_variables_are_told(argo: Argo) -> None:
    argo.files(chart(), below="web")
    assert argo.values({"path": "web", "helm": {"parameters": [{"name": "a", "value": "$NOPE-x"}]}}) == {"a": "-x"}
    assert argo.codes() == ["CMD-ARGO-322"]


@pytest.mark.requirement("D35")
@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.com/shop",
        "https://GIT.example.com/Shop.git/",
        "https://user:secret@git.example.com/shop.git",
    ],
)
def test_a_mapped_repository_is_its_folder(url: str, argo: Argo) -> None:
    argo.files({"a.yaml": config_map("a")})
    source = {"repoURL": url, "path": ".", "targetRevision": "--upload-pack=x"}
    assert names(argo.objects(source)) == ["a"]


@pytest.mark.requirement("D37", "D38")
@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://git.example.com/unmapped.git", "CMD-ARGO-310"),
        ("ext::sh -c id", "CMD-ARGO-320"),
        ("file:///etc", "CMD-ARGO-320"),
        ("/etc", "CMD-ARGO-320"),
        ("-x", "CMD-ARGO-320"),
        ("git://git.example.com/x", "CMD-ARGO-320"),
        ("https://git.example.com/a\nb", "CMD-ARGO-320"),
    ],
)
def test_repositories_that_are_not_mapped(url: str, code: str, argo: Argo) -> None:
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"repoURL": url, "path": ".", "targetRevision": "main"})
    assert caught.value.code == code


@pytest.mark.requirement("D41")
def test_credentials_of_urls_are_hidden(argo: Argo) -> None:
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"repoURL": "https://user:s3cret@git.example.com/unmapped.git", "path": "."})
    assert "s3cret" not in str(caught.value) + caught.value.hint
    assert caught.value.code == "CMD-ARGO-310"


@pytest.mark.parametrize("revision", ["--upload-pack=x", "a\nb", "x" * 300])
def test_revisions_are_no_options(revision: str, argo: Argo) -> None:
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"repoURL": "https://git.example.com/u.git", "path": ".", "targetRevision": revision})
    assert caught.value.code == "CMD-ARGO-320"
