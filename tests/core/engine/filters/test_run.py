"""Postprocessing filters: definitions, order, what jsonnet filters see, and the builtin one."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import InputError, PolicyError
from commodore.base.events import Noted, Warned
from tests.core.engine.world import World, jsonnet

NUMBERS = [0, -0.0, 1, 1.0, 1.5, -3, 0.1, 1e3, 1e16, 1e22, 1.5e300, 2**53, 2**53 + 1, -(2**60) - 1, 3.0e-7, 123456.789]


def jsonnet_filter(path: str = "out", file: str = "postprocess/f.jsonnet", **fields: Any) -> dict[str, Any]:
    return {"type": "jsonnet", "path": path, "filter": file, **fields}


def namespace_filter(path: str = "out", **arguments: Any) -> dict[str, Any]:
    return {
        "type": "builtin",
        "path": path,
        "filter": "helm_namespace",
        "filterargs": {"namespace": "syn-ns", **arguments},
    }


def add(world: World, *filters: Any, name: str = "a", component: str = "comp") -> None:
    """An instance whose compile writes `out/one.yaml`."""
    world.add(
        name,
        jsonnet(f"{name}/main.jsonnet", "out"),
        component=component,
        commodore={"postprocess": {"filters": list(filters)}},
    )
    world.write(f"dependencies/{name}/main.jsonnet", "{ one: { kind: 'One', metadata: { name: 'one' } } }")


def write_filter(world: World, text: str, file: str = "postprocess/f.jsonnet") -> None:
    world.write(f"dependencies/a/{file}", text)


@pytest.mark.requirement("C59", "C61")
def test_filters_work_on_what_was_rendered(world: World) -> None:
    """After Kapitan, on its output; the path is below compiled/<instance>, the file in the component."""
    add(world, jsonnet_filter(), jsonnet_filter(".", "second.jsonnet"))
    write_filter(
        world,
        """
        local dir = std.extVar('output_path');
        local load = std.native('yaml_load');
        { one: load(dir + '/one.yaml') + { seen: true }, 'sub/two': [{ a: 1 }, { b: [2] }], empty: [], none: null }
        """,
    )
    write_filter(
        world,
        """
        local dir = std.extVar('output_path');
        local list = std.native('list_dir');
        {
          names: { l: list(dir + '/out', true) },
          paths: { l: [std.startsWith(path, dir) for path in list(dir + '/out', false)] },
          all: std.native('yaml_load_all')(dir + '/out/sub/two.yaml'),
        }
        """,
        "second.jsonnet",
    )
    world.compile()
    assert world.read("a/out/one.yaml") == "kind: One\nmetadata:\n  name: one\nseen: true\n"
    assert world.read("a/out/sub/two.yaml") == "a: 1\n---\nb:\n  - 2\n"
    assert world.read("a/out/empty.yaml") == ""
    assert world.read("a/out/none.yaml") == "null\n...\n"
    assert world.read("a/names.yaml") == "l:\n  - empty.yaml\n  - none.yaml\n  - one.yaml\n"
    assert world.read("a/paths.yaml") == "l:\n  - true\n  - true\n  - true\n"
    assert world.read("a/all.yaml") == "a: 1\n---\nb:\n  - 2\n"


@pytest.mark.requirement("C62")
def test_filterargs_are_external_variables(world: World) -> None:
    """Arguments reach the filter; `target` and `component` are the component's name and win."""
    add(world, jsonnet_filter(filterargs={"mine": "x", "component": "overridden", "inv": "i", "path": "p"}))
    write_filter(world, "{ vars: { [k]: std.extVar(k) for k in ['mine', 'target', 'component', 'inv', 'path'] } }")
    world.compile()
    assert world.read("a/out/vars.yaml") == "component: comp\ninv: i\nmine: x\npath: p\ntarget: comp\n"


def test_filters_see_the_rendered_node(world: World) -> None:
    """The raw view, not the one of templates: without Kapitan's defaults, with `environment`."""
    add(world, jsonnet_filter())
    write_filter(
        world,
        "local node = std.native('commodore_inventory')();"
        "{ n: { keys: std.objectFields(node), prune: std.objectHas(node.parameters.kapitan.compile[0], 'prune') } }",
    )
    world.compile()
    keys = "".join(
        f"  - {key}\n" for key in ("__reclass__", "applications", "classes", "environment", "exports", "parameters")
    )
    assert world.read("a/out/n.yaml") == f"keys:\n{keys}prune: false\n"


def test_imports_of_filters(world: World) -> None:
    """First the folder of the file, then the working directory, the package, vendor; an empty file
    counts as not found.
    """
    add(world, jsonnet_filter())
    world.write("x.libsonnet", "'working directory'")
    world.write("dependencies/a/postprocess/y.libsonnet", "'nearby'")
    world.write("y.libsonnet", "'working directory'")
    world.write("z.libsonnet", "")
    world.write("vendor/z.libsonnet", "'vendor'")
    write_filter(
        world,
        "local com = import 'lib/commodore.libjsonnet';"
        "{ o: { x: import 'x.libsonnet', y: import 'y.libsonnet', z: import 'z.libsonnet', c: std.isObject(com),"
        " out: importstr 'compiled/a/out/one.yaml' } }",
    )
    world.write("compiled/a/out/one.yaml", "an older run")
    world.compile()
    lines = world.read("a/out/o.yaml").splitlines()
    assert lines == [
        "c: true",
        "out: |",
        "  kind: One",
        "  metadata:",
        "    name: one",
        "x: working directory",
        "y: nearby",
        "z: vendor",
    ]


@pytest.mark.requirement("C62")
def test_disabled_filters_are_skipped(world: World) -> None:
    """`enabled: false` skips a filter, which then need not be there; missing means enabled."""
    add(world, jsonnet_filter(enabled=False, file="nowhere.jsonnet"), jsonnet_filter(enabled=True))
    write_filter(world, "{ ran: {} }")
    world.compile()
    assert world.files("a/out") == ["one.yaml", "ran.yaml"]
    assert any(
        "nowhere.jsonnet" in e.message and "not enabled" in e.message for e in world.events if isinstance(e, Noted)
    )


WRONG = [
    ("text", "it must be a mapping"),
    ({"path": "x", "filter": "y"}, "the key 'type' is missing"),
    ({"type": "jsonnet", "filter": "y"}, "the key 'path' is missing"),
    ({"type": "jsonnet", "path": "x"}, "the key 'filter' is missing"),
    ({"type": 1, "path": "x", "filter": "y"}, "the value of 'type' is not a string"),
    ({"type": "jsonet", "path": "x", "filter": "y"}, "unknown type 'jsonet'"),
    (jsonnet_filter(enabled="yes"), "'enabled' is 'yes'"),
    (jsonnet_filter(filterargs=None), "'filterargs' must be a mapping"),
    (jsonnet_filter(filterargs={"n": 1}), "the filter argument 'n' is not a string"),
    (jsonnet_filter(file="postprocess/g.jsonnet"), "the Jsonnet file 'postprocess/g.jsonnet' does not exist"),
    ({**namespace_filter(), "filter": "helm-namespace"}, "unknown builtin filter 'helm-namespace'"),
    ({"type": "builtin", "path": "x", "filter": "helm_namespace"}, "a builtin filter needs 'filterargs'"),
    (namespace_filter(namespace=1), "'namespace' is missing or is not a string"),
    (namespace_filter(create_namespace=1), "'create_namespace' is neither"),
    (namespace_filter(exclude_objects=[{"name": "x"}]), "'exclude_objects' is not a list of mappings"),
]
UNUSABLE = {
    "it must be a mapping",
    "'filterargs' must be a mapping",
    *(
        reason
        for _, reason in WRONG
        if reason.startswith(("the filter argument", "'namespace'", "'create", "'exclude"))
    ),
}
"""What the published tool fails at."""


@pytest.mark.requirement("C60")
def test_wrong_definitions_are_errors(world: World) -> None:
    """`type`, `path` and `filter` are mandatory. All invalid filters are reported at once, with other errors."""
    add(world, *(definition for definition, _ in WRONG))
    write_filter(world, "{}")
    world.write("dependencies/a/main.jsonnet", "error 'broken, too'")
    *errors, compile_error = world.fail()
    assert len(errors) == len(WRONG)
    for index, (error, (_, reason)) in enumerate(zip(errors, WRONG, strict=True)):
        assert isinstance(error, InputError)
        assert error.code == ("CMD-ENG-049" if reason in UNUSABLE else "CMD-ENG-041")
        assert error.message.startswith(f"instance 'a', filter {index}: ")
        assert reason in error.message
    assert "'jsonnet'" in errors[5].hint
    assert "'postprocess/f.jsonnet'" in errors[9].hint
    assert "'helm_namespace'" in errors[10].hint
    assert "broken, too" in compile_error.message


def test_wrong_definitions_can_be_allowed(world: World) -> None:
    """Then they are skipped, as in the published tool; what it fails at stays an error."""
    wrong = [definition for definition, reason in WRONG if reason not in UNUSABLE]
    add(world, *wrong, namespace_filter(path="nowhere"), jsonnet_filter())
    write_filter(world, "{ ran: {} }")
    codes = ["CMD-ENG-041"] * len(wrong) + ["CMD-ENG-044"]
    world.compile(allowed=frozenset({"CMD-ENG-041", "CMD-ENG-044"}))
    assert world.files("a/out") == ["one.yaml", "ran.yaml"]
    assert [event.code for event in world.events if isinstance(event, Warned)] == codes
    (error,) = world.fail(allowed=frozenset({"CMD-ENG-041"}))
    assert error.code == "CMD-ENG-044"
    assert "--allow CMD-ENG-044 makes it a warning" in error.hint


def test_a_misspelt_key_is_suggested(world: World) -> None:
    add(world, {"type": "jsonnet", "paht": "x", "filter": "y"})
    assert "'paht'" in world.fail_once().hint


@pytest.mark.parametrize("value", [{"filters": {"a": 1}}, ["x"], "text"])
def test_definitions_of_the_wrong_shape(world: World, value: Any) -> None:
    world.add("a", commodore={"postprocess": value})
    assert world.fail_once().code == "CMD-ENG-040"


@pytest.mark.parametrize("value", [None, {}, {"postprocess": None}, {"postprocess": {"filters": None}}])
def test_no_definitions(world: World, value: Any) -> None:
    world.add("a", commodore=value)
    world.compile()


@pytest.mark.parametrize("path", ["../b", "/tmp", "x/../../b"])
def test_paths_stay_inside(world: World, path: str) -> None:
    add(world, jsonnet_filter(path))
    write_filter(world, "{}")
    error = world.fail_once()
    assert isinstance(error, PolicyError)
    assert error.code == "CMD-ENG-042"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("x" * 300, "a part of more than 255 bytes"),
        ("ü" * 128, "a part of more than 255 bytes"),
        ("abc/" * 600, "more than 2048 bytes"),
        ("a\0b", "a NUL character"),
    ],
)
def test_paths_that_no_file_can_have(world: World, path: str, problem: str) -> None:
    add(world, jsonnet_filter(path), jsonnet_filter(file=path), namespace_filter(path))
    write_filter(world, "{}")
    errors = world.fail()
    assert [(error.code, bool(error.hint), bool(error.locations)) for error in errors] == [
        ("CMD-ENG-049", True, True)
    ] * 3
    assert [error.message for error in errors] == [
        f"instance 'a', filter {index}: the value of {key!r} has {problem}"
        for index, key in enumerate(("path", "filter", "path"))
    ]


@pytest.mark.parametrize(("key", "code"), [("a\0b", "CMD-ENG-049"), ("x" * 100_000, "")])
def test_keys_of_arguments(world: World, key: str, code: str) -> None:
    """No string of C has a NUL in it."""
    add(world, jsonnet_filter(filterargs={key: "x"}))
    write_filter(world, "{}")
    if not code:
        world.compile()
        return
    error = world.fail_once()
    assert (error.code, bool(error.hint), bool(error.locations)) == (code, True, True)
    assert "has a NUL character in its name" in error.message


def test_an_alias_that_leads_into_itself(world: World) -> None:
    world.add(
        "a",
        {"input_type": "copy", "input_paths": ["dependencies/a/one.yaml"], "output_path": "out"},
        commodore={"postprocess": {"filters": [namespace_filter()]}},
    )
    world.write("dependencies/a/one.yaml", "kind: One\nmetadata: {name: one}\nspec: &spec\n  of: *spec\n")
    error = world.fail_once()
    assert (error.code, [place.line for place in error.locations]) == ("CMD-YAML-001", [3])
    assert error.message.endswith("one.yaml is not valid YAML: an alias refers to itself")


def test_filter_files_stay_inside(world: World) -> None:
    add(world, jsonnet_filter(file="../outside.jsonnet"), jsonnet_filter(file="link.jsonnet"))
    outside = world.write("dependencies/outside.jsonnet", "{}")
    (world.root / "dependencies" / "a" / "link.jsonnet").symlink_to(outside)
    assert [error.code for error in world.fail()] == ["CMD-ENG-043", "CMD-ENG-043"]


def test_output_keys_stay_inside(world: World) -> None:
    add(world, jsonnet_filter())
    write_filter(world, "{ '../../../x': {} }")
    error = world.fail_once()
    assert error.code == "CMD-ENG-007"
    assert error.message.startswith("instance 'a', filter 0 (jsonnet postprocess/f.jsonnet on out): ")


def test_failures_of_jsonnet_filters(world: World) -> None:
    add(world, jsonnet_filter())
    write_filter(world, "{\n  a: std.native('yaml_load')('/nowhere/x.yaml'),\n}")
    error = world.fail_once()
    assert error.code == "CMD-ENG-047"
    assert error.message.endswith("native function 'yaml_load': cannot read /nowhere/x.yaml: No such file or directory")
    assert str(error.locations[0]).endswith("/a/postprocess/f.jsonnet:2:6")


@pytest.mark.parametrize(
    ("content", "reason"), [("a: {", "not valid YAML"), ("1: a", "map key 1"), ("a: 1\n---\n", "")]
)
def test_files_that_cannot_be_loaded(world: World, content: str, reason: str) -> None:
    add(world, jsonnet_filter())
    world.write("bad.yaml", content)
    write_filter(world, "{ a: std.native('yaml_load')('bad.yaml') }")
    error = world.fail_once()
    assert error.code == "CMD-ENG-047"
    assert "bad.yaml" in error.message
    assert reason in error.message


def test_dates_load_as_text(world: World) -> None:
    add(world, jsonnet_filter())
    world.write("dates.yaml", "day: 2020-01-31\ntime: 2020-01-31T10:00:00Z\n")
    write_filter(world, "{ a: std.native('yaml_load')('dates.yaml') }")
    world.compile()
    assert world.read("a/out/a.yaml").startswith("day: '2020-01-31'\n")


def test_imports_of_filters_that_fail(world: World) -> None:
    add(world, jsonnet_filter())
    write_filter(world, "import 'folder'")
    (world.root / "folder").mkdir()
    assert "folder: Is a directory" in world.fail_once().message
    write_filter(world, "import 'nowhere'")
    assert "cannot find the import 'nowhere'" in world.fail_once().message


def test_filters_give_objects(world: World) -> None:
    add(world, jsonnet_filter())
    write_filter(world, "[1]")
    assert world.fail_once().code == "CMD-ENG-048"


def test_builtin_on_a_folder_of_an_earlier_filter(world: World) -> None:
    add(world, jsonnet_filter("made"), namespace_filter("made"))
    write_filter(world, "{ x: { kind: 'X' } }")
    world.compile()
    assert world.read("a/made/x.yaml") == "kind: X\nmetadata:\n  namespace: syn-ns\n"


def test_builtin_on_a_folder_that_does_not_exist(world: World) -> None:
    add(world, namespace_filter("nowhere"))
    error = world.fail_once()
    assert error.code == "CMD-ENG-044"
    assert "'nowhere'" in error.message
    assert error.hint == "there is: out; --allow CMD-ENG-044 makes it a warning"


def objects(world: World, files: dict[str, str], *filters: Any) -> None:
    """An instance that copies these files to `out`."""
    for name, text in files.items():
        world.write(f"dependencies/a/files/{name}", text)
    copy = {"input_type": "copy", "input_paths": ["a/files"], "output_path": "out"}
    world.add("a", copy, commodore={"postprocess": {"filters": list(filters)}})


@pytest.mark.requirement("C59")
def test_helm_namespace(world: World) -> None:
    """The namespace of every object directly in the folder; sub-folders and other files stay as they are."""
    files = {
        "b.yaml": "kind: A\nmetadata: {name: x, namespace: old}\n---\n---\nkind: B\n",
        "c.yml": "kind: C\n",
        "d.json": '{"kind": "D"}',
        "empty.yaml": "# nothing\n",
        "NOTES.txt": "read: me",
        "plain": "not: yaml",
        "sub/e.yaml": "kind: E\n",
    }
    objects(world, files, namespace_filter(create_namespace="true"))
    world.compile()
    assert world.files("a/out") == [
        "00_namespace.yaml",
        "NOTES.txt",
        "b.yaml",
        "c.yaml",
        "d.yaml",
        "empty.yaml",
        "plain",
        "sub/e.yaml",
    ]
    assert world.read("a/out/b.yaml") == (
        "kind: A\nmetadata:\n  name: x\n  namespace: syn-ns\n---\nkind: B\nmetadata:\n  namespace: syn-ns\n"
    )
    assert world.read("a/out/c.yaml") == "kind: C\nmetadata:\n  namespace: syn-ns\n"
    assert world.read("a/out/empty.yaml") == ""
    assert world.read("a/out/sub/e.yaml") == "kind: E\n"
    assert world.read("a/out/00_namespace.yaml") == (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  annotations: {}\n  labels:\n    name: syn-ns\n  name: syn-ns\n"
    )


@pytest.mark.parametrize(("value", "made"), [(True, True), ("true", True), ("True", False), (False, False)])
def test_helm_namespace_is_created_if_asked(world: World, value: object, made: bool) -> None:
    objects(world, {"a.yaml": "kind: A\n"}, namespace_filter(create_namespace=value))
    world.compile()
    assert ("00_namespace.yaml" in world.files("a/out")) == made


def test_helm_namespace_excludes_objects(world: World) -> None:
    """By kind and name, both exact; an entry without a name covers its kind."""
    text = "---\n".join(f"kind: {kind}\nmetadata: {{name: {name}}}\n" for kind, name in ("Ax", "Ay", "Bx", "Cx"))
    excluded = [{"kind": "A", "name": "x"}, {"kind": "B", "other": "ignored"}, {"kind": "C", "name": "x"}]
    objects(world, {"a.yaml": text}, namespace_filter(exclude_objects=excluded))
    world.compile()
    namespaced = [part for part in world.read("a/out/a.yaml").split("---\n") if "syn-ns" in part]
    assert namespaced == ["kind: A\nmetadata:\n  name: y\n  namespace: syn-ns\n"]


@pytest.mark.requirement("C62")
def test_helm_namespace_excludes_beside_objects_without_kind_or_metadata(world: World) -> None:
    """These match no entry, and a `|` in a name is a character like any other."""
    text = "x: 1\n---\nkind: A\nmetadata: null\n---\nkind: A\nmetadata: {name: b}\n"
    excluded = [{"kind": "A", "name": "b"}, {"kind": "A", "name": "a|b"}]
    objects(world, {"v1.crd.yaml": text}, namespace_filter(exclude_objects=excluded))
    world.compile()
    assert world.read("a/out/v1.crd.yaml") == (
        "metadata:\n  namespace: syn-ns\nx: 1\n---\nkind: A\nmetadata:\n  namespace: syn-ns\n---\n"
        "kind: A\nmetadata:\n  name: b\n"
    )


def test_helm_namespace_rewrites_an_earlier_namespace(world: World) -> None:
    files = {"00_namespace.yaml": "kind: Namespace\nmetadata: {name: gone}\n"}
    objects(world, files, namespace_filter(create_namespace="true"))
    world.compile()
    assert "gone" not in world.read("a/out/00_namespace.yaml")


def test_helm_namespace_refuses_what_is_no_object(world: World) -> None:
    objects(world, {"a.yaml": "- 1\n"}, namespace_filter())
    error = world.fail_once()
    assert error.code == "CMD-ENG-046"
    assert "out/a.yaml" in error.message


def test_helm_namespace_does_not_mix_two_files(world: World) -> None:
    objects(world, {"a.yaml": "kind: A\n", "a.yml": "kind: B\n"}, namespace_filter())
    assert world.fail_once().code == "CMD-ENG-045"


def test_numbers_change_as_in_jsonnet(world: World) -> None:
    """The builtin filter evaluates no Jsonnet, and writes numbers as if it did."""
    text = "kind: A\nmetadata:\n  namespace: syn-ns\nnumbers:\n" + "".join(f"- {number!r}\n" for number in NUMBERS)
    text = text.replace("e+", ".0e+").replace("1.5.0e", "1.5e")
    objects(world, {"a.yaml": text}, jsonnet_filter(".", "f.jsonnet"), namespace_filter())
    world.write(
        "dependencies/a/f.jsonnet",
        "{ a: std.native('yaml_load_all')(std.extVar('output_path') + '/out/a.yaml') }",
    )
    world.compile()
    assert world.read("a/out/a.yaml") == world.read("a/a.yaml")
    assert "9007199254740992" in world.read("a/out/a.yaml")


def test_an_empty_namespace_is_one(world: World) -> None:
    """As in the published tool: objects without a namespace of their own get none."""
    add(world, namespace_filter(namespace=""))
    world.compile()
    assert "  namespace: ''\n" in world.read("a/out/one.yaml")
