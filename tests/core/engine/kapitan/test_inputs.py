"""Kapitan's inputs as the engine drives them: helm, kustomize, jinja2, kadet, external, copy, and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.documents import plain
from commodore.base.errors import EnvironmentFault, InputError, Location, PolicyError
from commodore.core.confinement import TrustPolicy
from commodore.core.engine.cache.static_key import WRAPPER
from tests.core.engine.world import World, jsonnet

# Writes what it was asked for, and the values it was given, as a chart would.
HELM = """
dir=.; name=; values=
echo "$@" >> "$HOME/helm.log"
[ "$1" = template ] || exit 64
shift
while [ $# -gt 0 ]; do
  case $1 in
    --output-dir) dir=$2; shift;;
    --values) values=$2; shift;;
    --*) ;;
    *) [ -z "$name" ] && name=$1 || chart=$1;;
  esac
  shift
done
mkdir -p "$dir/chart/templates" "$dir/chart/crds"
printf 'kind: A\\nname: %s\\nlist:\\n- 1\\n---\\n---\\nkind: B\\n' "$name" > "$dir/chart/templates/a.yaml"
printf '# nothing\\n' > "$dir/chart/templates/empty.yml"
printf 'text: x\\n' > "$dir/chart/templates/NOTES.txt"
printf 'op: =\\n' > "$dir/chart/crds/c.yaml"
[ -z "$values" ] || cp "$values" "$dir/chart/templates/values.yaml"
"""


def helm(**fields: Any) -> dict[str, Any]:
    return {"input_type": "helm", "input_paths": ["charts/one"], "output_path": "out", **fields}


@pytest.fixture
def chart(world: World) -> Path:
    world.tool("helm", HELM)
    world.environment["HOME"] = str(world.root)
    return world.write("charts/one/Chart.yaml", "name: one\n")


def test_helm_output_is_rewritten(world: World, chart: Path) -> None:
    """Streams lose null documents, lists are indented, empty files stay empty, other names get `.yaml`."""
    world.add("a", helm(helm_params={"name": "rel"}, helm_values={"n": "0123", "k": {"x": True}}))
    world.compile()
    out = "a/out/chart/templates"
    assert world.read(f"{out}/a.yaml") == "kind: A\nlist:\n  - 1\nname: rel\n---\nkind: B\n"
    assert world.read(f"{out}/empty.yml") == ""
    assert world.read(f"{out}/NOTES.txt.yaml") == "text: x\n"
    assert world.read("a/out/chart/crds/c.yaml") == "op: '='\n"
    assert yaml.safe_load(world.read(f"{out}/values.yaml")) == {"n": "0123", "k": {"x": True}}
    assert "--include-crds --skip-tests" in (world.root / "helm.log").read_text()


def test_the_first_chart_of_an_entry_gets_the_release_name(world: World, chart: Path) -> None:
    """Kapitan loses the name after the first input path, and catalogs have what comes of that; an instance's flags do
    not reach the next one.
    """
    world.write("charts/two/Chart.yaml", "name: two\n")
    params = {"name": "rel", "namespace": "syn"}
    world.add("a", helm(input_paths=["charts/one", "charts/two"], helm_params=params))
    world.add("b", helm(helm_params={"name": "other"}))
    world.compile(processes=1)
    first, second, third = (world.root / "helm.log").read_text().splitlines()
    assert " rel " in first
    assert " rel " not in second
    assert "--generate-name" in second
    assert "--namespace" in second
    assert " other " in third
    assert "--namespace" not in third


def test_helm_leaves_nothing_behind(world: World, chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values files may hold secrets: they lie in the run's own folder and go with it."""
    world.add("a", helm(helm_params={"name": "rel"}, helm_values={"secret": "x"}))
    world.compile()
    call = (world.root / "helm.log").read_text()
    assert "--values ./.commodore/" in call
    assert list((world.root / ".commodore").iterdir()) == []


def test_the_helm_binary_can_be_chosen(world: World, chart: Path) -> None:
    """KAPITAN_HELM_PATH counts more than PATH, an entry's helm_path more than both."""
    for name in ("variable", "entry"):
        world.write(f"bin/{name}", f'#!/bin/sh\necho {name} >> {world.root}/used\nexec helm "$@"', executable=True)
    world.environment["KAPITAN_HELM_PATH"] = str(world.root / "bin" / "variable")
    world.add("a", helm(helm_params={"name": "x"}))
    world.add("b", helm(helm_params={"name": "x"}, helm_path=str(world.root / "bin" / "entry")))
    policy = TrustPolicy(programs=(str(world.root / "bin" / "entry"),))
    world.compile(processes=1, policy=policy)
    assert (world.root / "used").read_text() == "variable\nentry\n"


def test_helm_errors(world: World) -> None:
    world.tool("helm", "echo 'walk.go:1: level=WARN chatter' >&2; echo 'Error: chart is broken' >&2; exit 1")
    chart = world.write("charts/one/Chart.yaml", "name: one\n").parent
    world.add("a", jsonnet("a/main.jsonnet"), helm(helm_params={"name": "x"}))
    world.write("dependencies/a/main.jsonnet", "{}")
    error = world.fail_once()
    assert isinstance(error, InputError)
    assert error.code == "CMD-ENG-018"
    assert error.message == "instance 'a', compile entry 1 (helm to out): chart is broken"
    assert error.locations[0] == Location(str(chart))


def test_helm_is_not_installed(world: World) -> None:
    world.write("charts/one/Chart.yaml", "name: one\n")
    world.environment["PATH"] = str(world.root)
    world.add("a", helm(helm_params={"name": "x"}))
    error = world.fail_once()
    assert isinstance(error, EnvironmentFault)
    assert error.code == "CMD-ENG-016"


def test_helm_takes_too_long(world: World) -> None:
    world.tool("helm", "exec sleep 1000")
    world.write("charts/one/Chart.yaml", "name: one\n")
    world.environment["KAPITAN_HELM_TIMEOUT"] = "0"
    world.add("a", helm(helm_params={"name": "x"}))
    error = world.fail_once()
    assert isinstance(error, EnvironmentFault)
    assert error.code == "CMD-ENG-017"


def test_helm_names_are_no_options(world: World, chart: Path) -> None:
    world.add("a", helm(helm_params={"name": "--post-renderer=evil"}))
    error = world.fail_once()
    assert isinstance(error, PolicyError)
    assert error.code == "CMD-ENG-014"


def test_helm_writes_no_output_file_outside(world: World, chart: Path) -> None:
    world.add("a", helm(helm_params={"name": "x", "output_file": "../../../../../x"}))
    assert world.fail_once().code == "CMD-ENG-007"


def test_helm_output_that_is_no_yaml(world: World) -> None:
    world.tool(
        "helm", 'd=; while [ $# -gt 1 ]; do [ "$1" = --output-dir ] && d=$2; shift; done; printf "a: {" > $d/bad.yaml'
    )
    world.write("charts/one/Chart.yaml", "name: one\n")
    world.add("a", helm(helm_params={"name": "x"}))
    error = world.fail_once()
    assert error.code == "CMD-YAML-001"
    assert "bad.yaml is not valid YAML" in error.message
    assert ".commodore" not in error.message


KUSTOMIZE = """
[ "$1" = build ] || exit 64
cat "$2/kustomization.yaml" > "$HOME/kustomization.yaml"
cat "$2/base/objects.yaml"
"""


def kustomize(world: World, objects: str, **fields: Any) -> None:
    world.tool("kustomize", KUSTOMIZE)
    world.environment["HOME"] = str(world.root)
    world.write("base/objects.yaml", objects)
    world.write("base/kustomization.yaml", "resources: [objects.yaml]\nnamespace: own\n")
    world.add("a", {"input_type": "kustomize", "input_paths": ["base"], "output_path": "k", **fields})


def test_kustomize_keeps_kapitans_own_style(world: World) -> None:
    """This input does not go through the common writer: lists are not indented, keys sorted."""
    objects = [
        {"kind": "Thing", "metadata": {"name": "One"}, "list": [1, {"b": "two\nlines\n", "a": None}], "time": "1:30"},
        {"x": [], "text": "ü" * 100},
    ]
    kustomize(world, yaml.safe_dump_all(objects))
    world.compile()
    assert world.read("a/k/one-thing.yaml") == yaml.dump(objects[0], default_flow_style=False)
    assert world.read("a/k/output.yaml") == yaml.dump(objects[1], default_flow_style=False)
    assert yaml.safe_load((world.root / "kustomization.yaml").read_text()) == {
        "resources": ["base"],
        "namespace": "own",
    }


def test_objects_names_do_not_leave_the_folder(world: World) -> None:
    kustomize(world, "kind: thing\nmetadata:\n  name: ../../../escape\n")
    assert world.fail_once().code == "CMD-ENG-007"


def test_kustomize_errors(world: World) -> None:
    kustomize(world, "{}")
    world.tool("kustomize", "echo 'Error: no matches for Id' >&2; exit 1")
    error = world.fail_once()
    assert error.code == "CMD-ENG-019"
    assert error.message.endswith("compile entry 0 (kustomize to k): kustomize: no matches for Id")


def test_a_kustomization_that_is_wrong_is_named_where_the_user_has_it(world: World) -> None:
    """And neither the wrapper nor the copy that Kapitan builds."""
    world.write("k/kustomization.yaml", "resources: [base]\n")
    world.write("k/base/kustomization.yaml", "resources: [missing.yaml]\n")
    built = f"{world.root}/k"
    world.add("a", {"input_type": "kustomize", "input_paths": [built], "output_path": "."})
    arguments = {"env_vars": {"INPUT_DIR": built}, "args": ["${compiled_target_dir}/a"]}
    world.add("b", external(str(WRAPPER), **arguments))
    for error in world.fail():
        assert error.code == "CMD-ENG-019"
        assert error.message.endswith(
            "): kustomize: accumulating resources from 'missing.yaml': no such file or directory"
        )
        places = [str(at) for at in error.locations]
        assert places == [f"{built}/base", f"{error.message[10]}: parameters.kapitan.compile[0]"]
        assert error.hint == f"`kustomize build {built}` shows all of it"


def test_a_copy_of_a_kustomization_has_nothing_around_it(world: World) -> None:
    world.write("x.yaml", "kind: X\n")
    world.write("k/kustomization.yaml", "resources: [../x.yaml]\n")
    world.add("a", {"input_type": "kustomize", "input_paths": [f"{world.root}/k"], "output_path": "."})
    error = world.fail_once()
    assert (str(error.locations[0]), error.hint[:43]) == (
        f"{world.root}/k",
        "this input type builds a copy of its folder",
    )


def test_kustomize_is_not_installed(world: World) -> None:
    kustomize(world, "{}")
    world.environment["PATH"] = str(world.root)
    error = world.fail_once()
    assert error.code == "CMD-ENG-016"
    assert "'kustomize'" in error.message


def external(script: str, **fields: Any) -> dict[str, Any]:
    return {"input_type": "external", "input_paths": [script], "output_path": ".", **fields}


def test_external_commands(world: World) -> None:
    """The output folder is put in; of the environment only PATH, HOME and the entry's variables arrive."""
    world.environment["SECRET"] = "x"
    world.write("run.sh", '#!/bin/sh\nmkdir -p "$1/sub"; pwd > "$1/sub/pwd"; env > "$1/env"', executable=True)
    world.add("a", external("run.sh", args=["${compiled_target_dir}/e"], env_vars={"OUT": "${compiled_target_dir}"}))
    world.compile(directory=world.root / "dependencies")
    assert world.read("a/e/sub/pwd") == f"{world.root}/dependencies\n"
    variables = {line.split("=")[0] for line in world.read("a/e/env").splitlines()}
    assert variables - {"PWD", "OLDPWD", "SHLVL", "_"} == {"HOME", "PATH", "OUT"}


def test_external_errors_do_not_show_the_environment(world: World) -> None:
    world.write("run.sh", "#!/bin/sh\necho 'it broke' >&2; exit 3", executable=True)
    world.add("a", external("run.sh", env_vars={"TOKEN": "hidden"}))
    error = world.fail_once()
    assert error.code == "CMD-ENG-020"
    assert error.message.endswith("the command failed (exit code 3): it broke")
    assert "hidden" not in str(plain(error))


def test_the_kustomize_wrapper_without_kustomize(world: World) -> None:
    world.write("k/kustomization.yaml", "{}")
    world.environment["PATH"] = str(world.root)
    arguments = {"env_vars": {"INPUT_DIR": f"{world.root}/k"}, "args": ["${compiled_target_dir}/a"]}
    world.add("a", external(str(WRAPPER), **arguments))
    error = world.fail_once()
    assert isinstance(error, EnvironmentFault)
    assert "found neither kustomize nor kubectl" in error.message


def test_a_command_that_cannot_be_run(world: World) -> None:
    world.write("run.sh", "#!/bin/sh\n")
    world.add("a", external("run.sh"))
    error = world.fail_once()
    assert (error.code, "chmod" in error.hint) == ("CMD-ENG-016", True)


def test_the_line_of_a_template_that_helm_names(world: World) -> None:
    world.write("dependencies/a/chart/Chart.yaml", "{apiVersion: v2, name: named-otherwise, version: 1.0.0}")
    world.write("dependencies/a/chart/templates/x.yaml", "\na: {{ .Values.a.b }}\n")
    world.add("a", {"input_type": "helm", "input_paths": ["a/chart"], "output_path": "."})
    error = world.fail_once()
    assert (error.code, error.message[-52:]) == ("CMD-ENG-018", "<.Values.a.b>: nil pointer evaluating interface {}.b")
    assert str(error.locations[0]) == f"{world.root}/dependencies/a/chart/templates/x.yaml:2:13"


def test_a_missing_input_path_is_looked_up_once_in_each_place(world: World) -> None:
    world.add("a", {"input_type": "copy", "input_paths": [f"{world.root}/nothing"], "output_path": "."})
    error = world.fail_once()
    assert [str(at) for at in error.locations] == ["a: parameters.kapitan.compile[0]", f"{world.root}/nothing"]


@pytest.mark.parametrize(
    ("field", "value", "said", "hint"),
    [
        ("input_paths", "x", "input_paths: it is the text 'x', not a list", ""),
        ("prune", "maybe", "prune: it is the text 'maybe', not true or false", ""),
        ("helm_params", [1], "helm_params: it is a list, not a map", ""),
        ("helm_path", None, "", ""),
        ("name", 3, "name: it is 3, not a text", ""),
        (
            "input_path",
            ["x"],
            "input_path: unknown field",
            "did you mean 'input_paths' or 'output_path' or 'input_params'?",
        ),
    ],
)
def test_wrong_fields(world: World, field: str, value: object, said: str, hint: str) -> None:
    entry = {"input_type": "helm", "input_paths": [], "output_path": ".", field: value}
    world.add("a", entry)
    if not said:
        world.compile()
        return
    error = world.fail_once()
    assert (error.message, error.hint) == (f"instance 'a': parameters.kapitan.compile[0].{said}", hint)


def test_an_output_type_that_does_not_exist(world: World) -> None:
    world.add("a", jsonnet("x", output_type="yamll"), {"output_path": "."})
    wrong, missing = world.fail()
    assert wrong.message == "instance 'a': parameters.kapitan.compile[0].output_type: there is no output_type 'yamll'"
    assert wrong.hint == "did you mean 'yaml' or 'yml'? It is one of json, yaml, yml, plain, toml, auto"
    assert missing.message == "instance 'a': parameters.kapitan.compile[1]: input_type is missing"


def test_jinja2(world: World) -> None:
    entry = {"input_type": "jinja2", "input_paths": ["a/t.txt"], "output_path": "j", "input_params": {"p": 7}}
    world.add("a", entry, size=3)
    world.add("b")
    world.write(
        "dependencies/a/t.txt", "{{ inventory.parameters.size }} {{ input_params.p }} {{ inventory_global | sort }}\n"
    )
    world.compile()
    assert world.read("a/j/t.txt") == "3 7 ['a', 'b']"


@pytest.mark.parametrize("text", ["one\n{{ missing.thing }}", "one\n{% if %}"])
def test_jinja2_errors_name_the_line(world: World, text: str) -> None:
    world.add("a", {"input_type": "jinja2", "input_paths": ["a/t.txt"], "output_path": "j"})
    template = world.write("dependencies/a/t.txt", text)
    error = world.fail_once()
    assert error.code == "CMD-ENG-021"
    assert error.locations[0] == Location(str(template), 2)


def kadet(world: World, code: str) -> Path:
    world.add("a", {"input_type": "kadet", "input_paths": ["a/module"], "output_path": ".", "input_params": {"p": 7}})
    return world.write("dependencies/a/module/__init__.py", code)


def test_kadet(world: World) -> None:
    kadet(
        world,
        "from kapitan.inputs.kadet import inventory, inventory_global\n"
        "def main(params):\n"
        "    names = sorted(inventory_global())\n"
        "    return {'out': {'p': params['p'], 'i': inventory().parameters._instance, 'n': names}}\n",
    )
    world.compile()
    assert world.read("a/out.yaml") == "i: a\nn:\n  - a\np: 7\n"


def test_kadet_errors_name_the_line(world: World) -> None:
    module = kadet(world, "def main():\n    return helper()\n\ndef helper():\n    raise KeyError('lost')\n")
    error = world.fail_once()
    assert error.code == "CMD-ENG-024"
    assert "KeyError: 'lost'" in error.message
    assert error.locations[0] == Location(str(module), 5)


def test_copy_keeps_contents(world: World) -> None:
    world.add("a", {"input_type": "copy", "input_paths": ["a/files"], "output_path": "c"})
    world.write("dependencies/a/files/.hidden", "?{vaultkv:x/y}")
    world.write("dependencies/a/files/sub/x", "1")
    world.compile()
    assert world.files("a/c") == [".hidden", "sub/x"]
    assert world.read("a/c/.hidden") == "?{vaultkv:x/y}"


def test_a_missing_input_path(world: World) -> None:
    world.add("a", jsonnet("a/mian.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{}")
    error = world.fail_once()
    assert error.code == "CMD-ENG-011"
    assert "'a/main.jsonnet'" in error.hint
    assert error.locations[1].place == str(world.root / "dependencies" / "a" / "mian.jsonnet")


def test_patterns(world: World) -> None:
    world.add("a", jsonnet("a/*.jsonnet"))
    for name in ("x", "y"):
        world.write(f"dependencies/a/{name}.jsonnet", f"{{ out: '{name}', {name}: {{ a: 1 }} }}")
    world.nodes["a"]["parameters"]["kapitan"]["compile"][0]["output_type"] = "json"
    world.compile()
    assert world.files() == ["a/out.json", "a/x.json", "a/y.json"]
    assert json.loads(world.read("a/out.json")) == "x"


def test_a_pattern_names_links_as_well(world: World) -> None:
    """A link in the folder of its target is copied under its own name, as with its whole folder."""
    raw = world.write("dependencies/a/raw/a.txt", "1").parent
    (raw / "b.txt").symlink_to("a.txt")
    world.add("a", {"input_type": "copy", "input_paths": ["a/raw/*.txt"], "output_path": "c"})
    world.add("b", {"input_type": "copy", "input_paths": ["a/raw"], "output_path": "c"})
    world.compile()
    assert world.files("a/c") == world.files("b/c") == ["a.txt", "b.txt"]
    assert world.read("a/c/b.txt") == "1"


@pytest.mark.parametrize("parameters", [{}, {"kapitan": None}])
def test_parameters_kapitan_is_missing(world: World, parameters: dict[str, Any]) -> None:
    world.add("a")
    world.nodes["a"]["parameters"] = parameters
    assert world.fail_once().code == "CMD-ENG-010"


def test_a_misspelt_input_type_is_suggested(world: World) -> None:
    world.add("a", {"input_type": "jsonet", "input_paths": ["x"], "output_path": "."})
    error = world.fail_once()
    assert error.message == "instance 'a': parameters.kapitan.compile[0]: there is no input_type 'jsonet'"
    assert error.hint.startswith("did you mean 'jsonnet'? It is one of jinja2, external, copy, kadet, jsonnet, helm")


def test_invalid_entries_are_named_by_their_path(world: World) -> None:
    world.add(
        "a", jsonnet("x", outputpath="y"), {"input_type": "nonsense"}, kapitan={"dependencies": [{"type": "git"}]}
    )
    errors = world.fail()
    assert {error.code for error in errors} == {"CMD-ENG-008"}
    messages = [error.message for error in errors]
    assert "instance 'a': parameters.kapitan.compile[0].outputpath: unknown field" in messages
    assert "instance 'a': parameters.kapitan.compile[1]: there is no input_type 'nonsense'" in messages
    assert any(error.hint.startswith("it is one of jinja2, external, copy, kadet, jsonnet, helm") for error in errors)
    assert "instance 'a': parameters.kapitan.dependencies[0].source: the field is missing" in messages


def jsonnet_error(world: World, text: str) -> tuple[str, list[str]]:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", text)
    error = world.fail_once()
    assert error.code == "CMD-ENG-015"
    *places, entry = (str(place).replace(f"{world.root}/dependencies/", "") for place in error.locations)
    assert entry == "a: parameters.kapitan.compile[0]"
    return error.message.removeprefix("instance 'a', compile entry 0 (jsonnet to .): "), places


def test_jsonnet_syntax_error(world: World) -> None:
    message, places = jsonnet_error(world, "{\n  a: ,\n}")
    assert "Unexpected" in message
    assert places == ["a/main.jsonnet:2:6"]


def test_jsonnet_runtime_error(world: World) -> None:
    world.write("dependencies/lib/l.libsonnet", "{ f(x):: error 'bad ' + x }")
    message, places = jsonnet_error(world, "local l = import 'lib/l.libsonnet';\n{\n  a: l.f('thing'),\n}")
    assert message == "bad thing"
    assert places[:2] == ["lib/l.libsonnet:1:10", "a/main.jsonnet:3:6"]


def test_jsonnet_native_error_has_its_cause(world: World) -> None:
    world.write("dependencies/a.yaml", "a: {")
    message, places = jsonnet_error(
        world, "local kap = import 'lib/kapitan.libjsonnet';\n{ a: std.parseJson(kap.yaml_load('a.yaml')) }"
    )
    assert message.startswith("native function 'yaml_load': ")
    assert "a.yaml is not valid YAML" in message
    assert places[0].startswith("a/main.jsonnet:2:")
    assert places[-1].startswith("a.yaml:2:")


def test_jsonnet_import_that_does_not_exist(world: World) -> None:
    message, places = jsonnet_error(world, "\nimport 'nowhere.libsonnet'")
    assert message == "cannot find the import 'nowhere.libsonnet'"
    assert places == ["a/main.jsonnet:2:1"]


def test_jsonnet_asks_for_an_unknown_target(world: World) -> None:
    message, _ = jsonnet_error(world, "(import 'lib/kapitan.libjsonnet').inventory('aa')")
    assert message == "there is no target 'aa' in the inventory"
