"""`lib/commodore.libjsonnet`: every field, in compile and in filters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lib.evaluation import in_compile, in_filter

FIELDS = [
    "Kustomization",
    "addNamespaceToHelmOutput",
    "envList",
    "filterNull",
    "fixupDir",
    "generateResources",
    "getValueOrDefault",
    "inventory",
    "list_dir",
    "makeMergeable",
    "namespaced",
    "patchNamespace",
    "proxyVars",
    "renderArray",
    "yaml_load",
    "yaml_load_all",
]


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """A folder with two manifest files, and other things that are not manifests."""
    folder = tmp_path / "manifests"
    (folder / "sub").mkdir(parents=True)
    (folder / "b.x.yaml").write_text("kind: B\nmetadata: {name: b}\n")
    (folder / "a.yaml").write_text("kind: A\nmetadata: {name: a, namespace: old}\n---\nnull\n---\nkind: C\n")
    (folder / "NOTES.txt").write_text("Thank you: for installing\n")
    (folder / "sub" / "c.yaml").write_text("kind: C\n")
    return folder


@pytest.mark.requirement("C58")
@pytest.mark.parametrize("evaluate", [in_compile, in_filter])
def test_fields(evaluate: Any) -> None:
    """Components and filters can list the fields; none is hidden, none is missing."""
    assert evaluate("std.objectFieldsAll(com)") == FIELDS
    assert evaluate("std.objectFields(com)") == FIELDS


def test_all_fields_exist_in_compile() -> None:
    types = in_compile("{ [name]: std.type(com[name]) for name in std.objectFields(com) }")
    assert types == {name: "object" if name == "proxyVars" else "function" for name in FIELDS}


def test_all_fields_exist_in_filters() -> None:
    """Kapitan's library is not importable in filters, so nothing may force its import."""
    types = in_filter("{ [name]: std.type(com[name]) for name in std.objectFields(com) }")
    assert types == {name: "object" if name == "proxyVars" else "function" for name in FIELDS}


def test_inventory() -> None:
    parameters = {"x": 1}
    assert in_filter("com.inventory().parameters", parameters) == parameters
    assert in_compile("com.inventory().parameters", parameters=parameters) == parameters
    assert in_compile("com.inventory('other', null).parameters", parameters=parameters) == parameters
    assert in_compile("com.inventory(target='t', inv_path=null).parameters", parameters=parameters) == parameters


def test_list_dir_is_sorted(manifests: Path) -> None:
    names = ["NOTES.txt", "a.yaml", "b.x.yaml"]
    assert in_filter(f"com.list_dir('{manifests}')") == names
    assert in_compile("com.list_dir('manifests')", manifests.parent) == names


def test_list_dir_gives_paths(manifests: Path) -> None:
    paths = [f"{manifests}/{name}" for name in ("NOTES.txt", "a.yaml", "b.x.yaml")]
    assert in_filter(f"com.list_dir('{manifests}', false)") == paths
    assert in_filter(f"com.list_dir('{manifests}/', basename=false)") == paths
    assert in_compile("com.list_dir('manifests', false)", manifests.parent)[1] == "manifests/a.yaml"


def test_list_dir_of_a_missing_folder_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        in_filter(f"com.list_dir('{tmp_path}/gone')")


def test_yaml_load_in_filters(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("a: 1\n")
    (tmp_path / "none.yaml").write_text("")
    (tmp_path / "two.yaml").write_text("a: 1\n---\na: 2\n")
    assert in_filter(f"com.yaml_load('{tmp_path}/one.yaml')") == {"a": 1}
    assert in_filter(f"com.yaml_load(file='{tmp_path}/none.yaml')") is None
    with pytest.raises(RuntimeError):
        in_filter(f"com.yaml_load('{tmp_path}/two.yaml')")


def test_yaml_load_in_compile_gives_text(tmp_path: Path) -> None:
    """Components parse it with std.parseJson, so it has to stay text."""
    (tmp_path / "one.yaml").write_text("a: 1\n")
    assert json.loads(in_compile("com.yaml_load('one.yaml')", tmp_path)) == {"a": 1}
    assert in_compile("std.parseJson(com.yaml_load(name='one.yaml')).a", tmp_path) == 1


@pytest.mark.parametrize(
    ("text", "documents"),
    [("a: 1\n---\nnull\n---\n- b\n", [{"a": 1}, None, ["b"]]), ("", []), ("---\n---\n", [None, None])],
)
def test_yaml_load_all(tmp_path: Path, text: str, documents: list[Any]) -> None:
    (tmp_path / "f.yaml").write_text(text)
    assert in_filter(f"com.yaml_load_all('{tmp_path}/f.yaml')") == documents
    assert in_compile("com.yaml_load_all('f.yaml')", tmp_path) == documents


def test_filter_null_says_that_it_is_deprecated(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_compile("com.filterNull([1, null, [null], {}])") == [1, [None], {}]
    assert "com.filterNull is deprecated" in capfd.readouterr().err


NAMESPACED_A = {"kind": "A", "metadata": {"name": "a", "namespace": "new"}}
OLD_A = {"kind": "A", "metadata": {"name": "a", "namespace": "old"}}
NAMESPACED_C = {"kind": "C", "metadata": {"namespace": "new"}}


@pytest.mark.parametrize(
    ("arguments", "objects"),
    [
        ("", [NAMESPACED_A, NAMESPACED_C]),
        (", kinds=['A']", [NAMESPACED_A, {"kind": "C"}]),
        (", kinds=[]", [OLD_A, {"kind": "C"}]),
        (", exclude_objects=[{ kind: 'A', name: 'a', other: 1 }]", [OLD_A, NAMESPACED_C]),
        (", exclude_objects=[{ kind: 'A', name: 'b' }]", [NAMESPACED_A, NAMESPACED_C]),
        (", exclude_objects=[{ kind: 'A', name: null }]", [NAMESPACED_A, NAMESPACED_C]),
        (", exclude_objects=[{ kind: 'A' }]", [OLD_A, NAMESPACED_C]),
        (", null, [{ kind: 'C', name: 'c' }, { kind: 'C' }]", [NAMESPACED_A, {"kind": "C"}]),
        (", ['A', 'C'], [{ kind: 'A' }]", [OLD_A, NAMESPACED_C]),
    ],
)
def test_patch_namespace(manifests: Path, arguments: str, objects: list[Any]) -> None:
    assert in_filter(f"com.patchNamespace('{manifests}/a.yaml', 'new'{arguments})") == objects
    assert in_compile(f"com.patchNamespace('manifests/a.yaml', 'new'{arguments})", manifests.parent) == objects


def test_patch_namespace_of_incomplete_objects(tmp_path: Path) -> None:
    """Objects without kind or metadata are no reason to fail, whatever is excluded."""
    (tmp_path / "f.yaml").write_text("x: 1\n---\nkind: A\nmetadata: null\n")
    call = f"com.patchNamespace('{tmp_path}/f.yaml', 'n', kinds=%s, exclude_objects=[{{ kind: 'B', name: 'b' }}])"
    assert in_filter(call % "null") == [
        {"x": 1, "metadata": {"namespace": "n"}},
        {"kind": "A", "metadata": {"namespace": "n"}},
    ]
    assert in_filter(call % "['A']") == [{"x": 1}, {"kind": "A", "metadata": {"namespace": "n"}}]


def test_patch_namespace_names_what_is_no_object(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("kind: A\n---\njust text\n")
    with pytest.raises(RuntimeError, match=r"f\.yaml holds a document of type string, expected Kubernetes objects"):
        in_filter(f"com.patchNamespace('{tmp_path}/f.yaml', 'n')")


@pytest.mark.parametrize(("entry", "named"), [("{ name: 'a' }", '{"name":"a"}'), ("'A'", '"A"'), ("null", "null")])
def test_excluding_needs_a_kind(manifests: Path, entry: str, named: str) -> None:
    with pytest.raises(RuntimeError, match=f"exclude_objects: the entry {named} has no kind"):
        in_filter(f"com.patchNamespace('{manifests}/a.yaml', 'n', exclude_objects=[{entry}])")


def test_add_namespace_to_helm_output(manifests: Path) -> None:
    expected = {
        "a": [OLD_A, NAMESPACED_C],
        "b.x": [{"kind": "B", "metadata": {"name": "b", "namespace": "new"}}],
    }
    call = "com.addNamespaceToHelmOutput('%s', 'new', [{ kind: 'A', name: 'a' }])"
    assert in_filter(call % manifests) == expected
    assert in_compile(call % "manifests", manifests.parent) == expected


def test_fixup_dir(manifests: Path) -> None:
    function = "function(obj) if obj.kind == 'C' then null else obj.kind"
    expected = {"a": ["A", None], "b.x": ["B"]}
    assert in_filter(f"com.fixupDir('{manifests}', {function})") == expected
    assert in_compile(f"com.fixupDir(dir='manifests', fixupfn={function})", manifests.parent) == expected


def test_files_with_one_stem_are_joined(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("kind: Second\n")
    (tmp_path / "a.yaml").write_text("kind: First\n")
    (tmp_path / "empty.yaml").write_text("")
    assert in_filter(f"com.fixupDir('{tmp_path}', function(obj) obj.kind)") == {"a": ["First", "Second"], "empty": []}


@pytest.mark.parametrize(
    ("parameters", "variables"),
    [
        ({}, {}),
        ({"global": {}}, {}),
        (
            {"global": {"http_proxy": "http://p", "no_proxy": None, "other": "x"}},
            {"HTTP_PROXY": "http://p", "http_proxy": "http://p", "NO_PROXY": None, "no_proxy": None},
        ),
        ({"global": {"https_proxy": "s"}}, {"HTTPS_PROXY": "s", "https_proxy": "s"}),
    ],
)
def test_proxy_vars(parameters: dict[str, Any], variables: dict[str, Any]) -> None:
    assert in_compile("com.proxyVars", parameters=parameters) == variables
    assert in_filter("com.proxyVars", parameters) == variables
