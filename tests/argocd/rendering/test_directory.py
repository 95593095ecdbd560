"""Directory sources."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from commodore.argocd.configuration.profiles import PROFILES
from commodore.base.errors import CommodoreError
from tests.argocd.conftest import Argo, config_map


def names(argo: Argo, **directory: object) -> list[str]:
    return [data["metadata"]["name"] for data in argo.objects({"path": "app", "directory": directory})]


@pytest.mark.requirement("D45")
def test_the_files_of_a_folder_in_lexical_order(argo: Argo) -> None:
    files = {"b.yaml": config_map("b"), "a.yml": config_map("a1") + "\n---\n---\n" + config_map("a2")}
    files |= {"c.json": '{"kind": "A", "metadata": {"name": "c"}}', "notes.txt": "x", "sub/d.yaml": config_map("d")}
    argo.files(files, below="app")
    assert names(argo) == ["a1", "a2", "b", "c"]
    assert names(argo, recurse=True) == ["a1", "a2", "b", "c", "d"]
    assert [item.origin for item in argo.render({"path": "app"})] == ["a.yml", "a.yml", "b.yaml", "c.json"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": "a*"}, ["a", "x"]),  # a star crosses folders
        ({"include": "{b.yaml,sub/*}"}, ["b", "c"]),
        ({"exclude": "**/c.yaml"}, ["a", "x", "b"]),
        ({"exclude": "[!ab]*"}, ["a", "x", "b"]),
        ({"include": "*.yaml", "exclude": "b.y?ml"}, ["a", "x", "c"]),
        ({"include": "[a-"}, []),  # an invalid pattern matches nothing
        ({"exclude": "{a"}, ["a", "x", "b", "c"]),
    ],
)
def test_include_and_exclude(options: dict[str, str], expected: list[str], argo: Argo) -> None:
    texts = {"a.yaml": "a", "a/x.yaml": "x", "b.yaml": "b", "sub/c.yaml": "c"}
    argo.files({path: config_map(name) for path, name in texts.items()}, below="app")
    assert sorted(names(argo, recurse=True, **options)) == sorted(expected)
    broken = any(text in ("[a-", "{a") for text in options.values())
    assert argo.codes() == (["CMD-ARGO-803"] if broken else [])


def test_files_of_every_name(argo: Argo) -> None:
    """With Argo CD 3.6, which can take them."""
    argo.files({"a.yaml": config_map("a"), "b.txt": config_map("b"), "README.md": "text: ["}, below="app")
    assert names(argo, disableExtensionFilter=True) == ["a"]
    argo.profile = PROFILES[-1]
    assert names(argo, disableExtensionFilter=True) == ["a", "b"]
    assert names(argo) == ["a"]


@pytest.mark.requirement("D44")
def test_what_is_no_manifest_is_left_out_or_an_error(argo: Argo) -> None:
    argo.files(
        {"a.yaml": config_map("a"), "notes.yaml": "{{ template }}: [", "skip.yaml": "# +argocd:skip-file-rendering"}
    )
    assert [data["metadata"]["name"] for data in argo.objects({"path": "."})] == ["a"]
    assert [diagnostic.code for diagnostic in argo.diagnostics.collected()] == ["CMD-ARGO-402"]


@pytest.mark.tools
@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("a.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: {{ .x }}\n", "CMD-ARGO-401"),
        ("a.yaml", "kind: A\n---\n[", "CMD-ARGO-401"),
        ("a.json", '{"kind": "A"} {"kind": "B"}', "CMD-ARGO-401"),
        ("a.json", "[]", "CMD-ARGO-401"),
        ("a.yaml", "apiVersion: v1\nkind: A\nmetadata: {}\n---\n- b\n", "CMD-ARGO-401"),
        ("a.jsonnet", "error 'no'", "CMD-ARGO-404"),
        ("a.jsonnet", "5", "CMD-ARGO-404"),
        ("a.jsonnet", "import '../../../../../../../../../../etc/passwd'", "CMD-ARGO-408"),
        ("a.jsonnet", "importstr '/etc/passwd'", "CMD-ARGO-408"),
        ("a.jsonnet", "local f(x) = f(x + 1) + 1; f(0)", "CMD-ARGO-404"),
    ],
)
def test_bad_files(name: str, text: str, code: str, argo: Argo) -> None:
    argo.files({name: text})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": ".", "directory": {"recurse": True}})
    assert caught.value.code == code
    assert str(argo.root) not in caught.value.message


@pytest.mark.tools
def test_jsonnet_that_doubles_its_work_with_each_step(argo: Argo) -> None:
    argo.files({"a.jsonnet": "local f(n) = if n == 0 then 1 else f(n - 1) + f(n - 1); {kind: 'A', a: f(60)}"})
    argo.limits = replace(argo.limits, argocd_source_seconds=0.5)
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert (caught.value.code, caught.value.exit_code) == ("CMD-ARGO-418", 3)
    assert "raise --timeout or argocd_source_seconds with COMMODORE_LIMITS" in caught.value.hint


def test_files_of_a_folder_have_a_limit(argo: Argo) -> None:
    argo.files({"a.yaml": config_map("a", text="x" * 3000)})
    argo.parameters["reposerver.max.combined.directory.manifests.size"] = "2k"
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert caught.value.code == "CMD-ARGO-403"
    argo.parameters["reposerver.max.combined.directory.manifests.size"] = "0"
    assert len(argo.objects({"path": "."})) == 1


def test_links(argo: Argo) -> None:
    folder = argo.files({"app/a.yaml": config_map("a"), "other/b.yaml": config_map("b")})
    os.symlink("../other/b.yaml", folder / "app" / "b.yaml")
    os.symlink("nowhere", folder / "app" / "c.yaml")
    assert names(argo) == ["a", "b"]
    assert argo.codes() == ["CMD-ARGO-402"]


@pytest.mark.tools
@pytest.mark.requirement("D45")
def test_jsonnet(argo: Argo) -> None:
    files = {
        "app/a.jsonnet": "local l = import 'l.libsonnet'; function(n, code) "
        "[{kind: 'A', metadata: {name: n, code: code, lib: l, ext: std.extVar('e')}}]",
        "app/l.libsonnet": "'app'",
        "one/l.libsonnet": "'one'",
        "one/m.libsonnet": "'one'",
        "two/l.libsonnet": "'two'",
        "app/b.jsonnet": "{kind: 'B', metadata: {name: import 'm.libsonnet', n: 1.0}}",
    }
    argo.files(files)
    variables = [{"name": "n", "value": "$ARGOCD_APP_NAME"}, {"name": "code", "value": "1 + 1", "code": True}]
    jsonnet = {"tlas": variables, "extVars": [{"name": "e", "value": "x"}], "libs": ["one", "two"]}
    argo.folder().joinpath("app/l.libsonnet").unlink()
    (first,) = argo.objects({"path": "app", "directory": {"jsonnet": jsonnet, "include": "a*"}})
    assert first["metadata"] == {"name": "shop", "code": 2, "lib": "two", "ext": "x"}
    (second,) = argo.objects({"path": "app", "directory": {"jsonnet": {"libs": ["one"]}, "include": "b*"}})
    assert second["metadata"] == {"name": "one", "n": 1}


def test_libraries_stay_in_the_repository(argo: Argo) -> None:
    argo.files({"a.jsonnet": "{}"})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": ".", "directory": {"jsonnet": {"libs": ["../../etc"]}}})
    assert caught.value.code == "CMD-ARGO-408"


def test_jsonnet_can_be_switched_off(argo: Argo) -> None:
    argo.files({"a.jsonnet": "{kind: 'A', metadata: {name: 'a'}}", "b.yaml": config_map("b")})
    argo.config["jsonnet.enable"] = "false"
    assert len(argo.objects({"path": "."})) == 1


@pytest.mark.tools
@pytest.mark.requirement("D1")
def test_no_program_is_needed(argo: Argo, monkeypatch: pytest.MonkeyPatch) -> None:
    argo.files({"a.yaml": config_map("a"), "b.jsonnet": "{kind: 'B', metadata: {name: 'b'}}"})
    monkeypatch.setenv("PATH", "")
    assert [data["metadata"]["name"] for data in argo.objects({"path": "."})] == ["a", "b"]


@pytest.mark.requirement("D80")
def test_marked_files_count_in_old_versions_of_argo_cd(argo: Argo) -> None:
    argo.files({"a.yaml": config_map("a") + "# +argocd:skip-file-rendering\n", "b.yaml": config_map("b")})
    assert [data["metadata"]["name"] for data in argo.objects({"path": "."})] == ["b"]
    argo.profile = PROFILES[0]
    assert [data["metadata"]["name"] for data in argo.objects({"path": "."})] == ["a", "b"]
