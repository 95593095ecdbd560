"""Running code that no one has allowed."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from commodore.core.confinement import TrustPolicy
from tests.attacks.conftest import Witness
from tests.core.engine.world import PACKAGE, World, jsonnet

NOT_ALLOWED, SANDBOX, SHELL, PROGRAM = "CMD-CONF-004", "CMD-CONF-006", "CMD-CONF-007", "CMD-CONF-008"
WRAPPER = str(PACKAGE / "scripts" / "run-kustomize")


def refused(world: World, witness: Witness, *codes: str, **changes: Any) -> None:
    error = world.fail_once(**changes)
    assert error.code in codes
    assert error.exit_code == 4
    assert not witness.was_written


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ self.__init__.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('SHELL').read() }}",
    "{{ lipsum.__globals__['os'].system('SHELL') }}",
    "{{ (namespace|attr('__init__'))|attr('__globals__') }}",
    "{{ '{0.__class__.__mro__}'.format(1) }}",
    "{{ range.__self__ }}",
]


@pytest.mark.parametrize("template", ESCAPES)
@pytest.mark.parametrize("kind", ["input", "native"])
def test_templates_that_leave_the_sandbox(world: World, witness: Witness, template: str, kind: str) -> None:
    entries = {
        "input": {"input_type": "jinja2", "output_path": ".", "input_paths": ["a/t.txt"]},
        "native": jsonnet("a/main.jsonnet"),
    }
    world.add("a", entries[kind])
    world.write("dependencies/a/main.jsonnet", "{ out: { x: std.native('jinja2_render_file')('a/t.txt', '{}') } }")
    world.write("dependencies/a/t.txt", template.replace("SHELL", witness.shell))
    error = world.fail_once()
    assert error.code in (SANDBOX, "CMD-ENG-021", "CMD-ENG-015")  # or what it asks for is not defined
    assert not witness.was_written


def test_filters_of_templates(world: World, witness: Witness) -> None:
    """A fetched file, or one of the component that is compiled alone, at the place where Kapitan looks for filters."""
    world.add("a", {"input_type": "jinja2", "output_path": ".", "input_paths": ["a/t.txt"]})
    world.write("dependencies/a/t.txt", "text")
    world.write("lib/jinja2_filters.py", witness.python)
    refused(world, witness, NOT_ALLOWED)
    world.compile(policy=TrustPolicy(jinja2_filters=("a",), isolated=False))
    assert witness.was_written


def external(path: str, *arguments: str, **variables: str) -> dict[str, Any]:
    return {
        "input_type": "external",
        "input_paths": [path],
        "output_path": ".",
        "args": list(arguments),
        "env_vars": variables,
    }


SHELL_TEXTS = [
    "; SHELL",
    "&& SHELL",
    "| SHELL",
    "& SHELL",
    "$(SHELL)",
    "`SHELL`",
    '"$(SHELL)"',
    '"`SHELL`"',
    "\nSHELL",
    "> WITNESS",
    "<(SHELL)",
    "${x:-$(SHELL)}",
    "x' ; SHELL ; 'x'",
    "x # '\n SHELL",
]


@pytest.mark.parametrize("text", SHELL_TEXTS)
@pytest.mark.parametrize("path", ["a/run", WRAPPER], ids=["external", "kustomize"])
def test_arguments_that_are_commands(world: World, witness: Witness, text: str, path: str) -> None:
    """An argument of the entry, or a fact of the cluster that a class puts into one."""
    text = text.replace("SHELL", witness.shell).replace("WITNESS", str(witness.path))
    world.tool("kustomize", "exit 0")
    world.write("dependencies/a/run", "#!/bin/sh\n", executable=True)
    world.add("a", external(path, "${compiled_target_dir}/out", text, INPUT_DIR=str(world.root / "dependencies/a")))
    refused(world, witness, SHELL, NOT_ALLOWED)


@pytest.mark.harmless
def test_a_file_whose_name_is_a_command(world: World, witness: Witness) -> None:
    name = f"run;touch {witness.path.name};"
    world.add("a", external(f"a/{name}"))
    world.write(f"dependencies/a/{name}", "#!/bin/sh\n", executable=True)
    world.compile()
    assert list(world.root.rglob(witness.path.name)) == []


@pytest.mark.parametrize("path", ["a/run", WRAPPER], ids=["external", "kustomize"])
@pytest.mark.parametrize(
    "variable", ["PATH", "LD_PRELOAD", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "PYTHONPATH", "BASH_ENV", "HOME"]
)
def test_variables_that_make_programs_run_others(world: World, witness: Witness, variable: str, path: str) -> None:
    witness.program(world.root / "dependencies/a/bin/kustomize")
    world.add("a", external(path, "${compiled_target_dir}/out", **{variable: str(world.root / "dependencies/a/bin")}))
    world.write("dependencies/a/run", "#!/bin/sh\nkustomize\n", executable=True)
    refused(world, witness, NOT_ALLOWED)


@pytest.mark.parametrize("capability", ["external", "kadet"])
def test_a_policy_without_a_component(world: World, witness: Witness, capability: str) -> None:
    entry = external("a/run") if capability == "external" else {**external("a"), "input_type": "kadet"}
    if capability == "kadet":
        entry = {"input_type": "kadet", "input_paths": ["a"], "output_path": "."}
    world.add("a", entry)
    witness.program(world.root / "dependencies/a/run")
    world.write("dependencies/a/__init__.py", f"def main():\n    {witness.python}\n    return {{'x': {{}}}}\n")
    refused(world, witness, NOT_ALLOWED, policy=TrustPolicy(**{capability: ("b", "c*")}))
    world.compile(policy=TrustPolicy(isolated=False, **{capability: ("a",)}))
    assert witness.was_written


@pytest.mark.parametrize(
    ("path", "code"),
    [("/bin/sh", PROGRAM), ("/usr/bin/env", PROGRAM), ("../" * 12 + "bin/sh", "CMD-CONF-001")],
)
def test_programs_of_the_machine(world: World, witness: Witness, path: str, code: str) -> None:
    world.add("a", external(path, "-c", f"'{witness.shell}'"))
    refused(world, witness, code)


@pytest.mark.allowed
def test_a_program_that_the_policy_names(world: World) -> None:
    world.write("dependencies/a/x.yaml", "a: 1\n")
    world.add("a", external("/bin/cp", str(world.root / "dependencies/a/x.yaml"), "${compiled_target_dir}/out.yaml"))
    assert "`programs` in the trust policy" in world.fail_once().hint
    world.compile(policy=TrustPolicy(programs=("/bin/cp",)))
    assert world.read("a/out.yaml") == "a: 1\n"


@pytest.mark.harmless
def test_programs_that_public_components_name(world: World) -> None:
    """A folder in the component's checkout, and a script of its own for `${_python3}`."""
    made, script = world.root / "dependencies/a/made", world.write("dependencies/a/run.py", MAKES)
    run = external(sys.executable, str(script), str(made), "${compiled_target_dir}/out.yaml")
    world.add("a", external("/bin/mkdir", "-p", str(made)), run)
    world.compile()
    assert world.read("a/out.yaml") == "a: true\n"


MAKES = "import os, sys\nopen(sys.argv[2], 'w').write('a: ' + str(os.path.isdir(sys.argv[1])).lower() + '\\n')\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["-c", "'PYTHON'"], NOT_ALLOWED),
        (["-m", "timeit", "'PYTHON'"], NOT_ALLOWED),
        ([], NOT_ALLOWED),
        (["/dev/stdin"], "CMD-CONF-001"),
        (["OUTSIDE"], "CMD-CONF-001"),
    ],
)
def test_code_for_the_interpreter(world: World, witness: Witness, words: list[str], code: str) -> None:
    """A value of the hierarchy, such as a fact of a cluster, must not become code; a script is the component's own."""
    outside = world.root.parent / "x.py"
    outside.write_text(witness.python)
    texts = {"'PYTHON'": json.dumps(witness.python), "OUTSIDE": str(outside)}
    world.add("a", external(sys.executable, *(texts.get(word, word) for word in words)))
    refused(world, witness, code)


def helm(**fields: Any) -> dict[str, Any]:
    return {"input_type": "helm", "input_paths": ["a/chart"], "output_path": ".", **fields}


@pytest.fixture
def chart(world: World) -> None:
    world.write("dependencies/a/chart/Chart.yaml", "name: x\n")
    world.tool("helm", "exit 0")


@pytest.mark.parametrize("place", ["absolute", "relative"])
def test_a_chart_that_brings_its_helm(world: World, witness: Witness, chart: None, place: str) -> None:
    program = witness.program(world.root / "dependencies/a/helm")
    named = str(program) if place == "absolute" else "dependencies/a/helm"
    world.add("a", helm(helm_path=named))
    refused(world, witness, PROGRAM)


@pytest.mark.parametrize(
    "parameters",
    [
        {"post_renderer": "EVIL"},
        {"post_renderer_args": "x"},
        {"validate": True},
        {"kubeconfig": "/etc/passwd"},
        {"repo": "https://example.com"},
        {"registry_config": "/etc/passwd"},
        {"plugins": "EVIL"},
        {"enable_dns": True},
        {"kube_apiserver": "https://example.com"},
        {"name_template": "{{ env `TOKEN` }}"},
        {"name_template": "{{ print `$TOKEN` | expandenv }}"},
        {"name_template": "{{ getHostByName `evil.example.com` }}"},
    ],
    ids=lambda parameters: next(iter(parameters)),
)
def test_helm_options(world: World, witness: Witness, chart: None, parameters: dict[str, Any]) -> None:
    program = witness.program(world.root / "dependencies/a/evil")
    world.add("a", helm(helm_params=json.loads(json.dumps(parameters).replace("EVIL", str(program)))))
    refused(world, witness, NOT_ALLOWED)


@pytest.mark.parametrize(
    "parameter", ["name", "release_name", "skip_crds", "include_crds", "namespace", "api_versions", "kube_version"]
)
def test_a_value_that_is_another_option(world: World, witness: Witness, chart: None, parameter: str) -> None:
    """Switches take no value: what follows one is an option by itself."""
    world.add("a", helm(helm_params={parameter: "--values=/etc/passwd"}))
    refused(world, witness, "CMD-ENG-014")


@pytest.mark.parametrize("values", ["https://example.com/values.yaml", "evil://values", "-"])
def test_values_from_elsewhere(world: World, witness: Witness, chart: None, values: str) -> None:
    """Helm runs a plugin for each scheme that it does not know."""
    world.add("a", helm(helm_values_files=[values]))
    refused(world, witness, NOT_ALLOWED)


@pytest.mark.parametrize(
    "argument",
    [
        "--load-restrictor=LoadRestrictionsNone",
        "--load-restrictor LoadRestrictionsNone",
        "--enable-exec",
        "--enable-alpha-plugins",
        "--enable-helm",
        "--helm-command=./evil",
        "--network",
        "--mount=type=bind,src=/,dst=/x",
        "--env=TOKEN",
        "-e=TOKEN",
        "--output=/tmp",
        "/etc",
    ],
)
def test_kustomize_options(world: World, witness: Witness, argument: str) -> None:
    witness.program(world.root / "bin/kustomize")
    world.tool("unused", "")
    world.add(
        "a", external(WRAPPER, "${compiled_target_dir}/out", argument, INPUT_DIR=str(world.root / "dependencies/a"))
    )
    refused(world, witness, NOT_ALLOWED)


@pytest.mark.harmless
def test_words_of_a_command_stay_words(world: World) -> None:
    """Words that are not code are passed on unchanged: quotes, backslashes, equal signs, braces."""
    script = '#!/bin/sh\nfor word in "$@"; do printf "%s|" "$word"; done > "$OUT/words.yaml"\n'
    world.write("dependencies/a/run", script, executable=True)
    arguments = ["one two", "'three  four'", '"five \\"six\\""', "a\\ b", "--x=y", "{a,b}", "'$(x)'", '""', "!"]
    world.add("a", external("a/run", *arguments, OUT="${compiled_target_dir}"))
    world.compile()
    assert world.read("a/words.yaml") == 'one|two|three  four|five "six"|a b|--x=y|{a,b}|$(x)||!|'


@pytest.mark.allowed
def test_a_shell_for_those_who_may(world: World) -> None:
    world.write("dependencies/a/run", "#!/bin/sh\necho 'a: 1'\n", executable=True)
    world.add("a", external("a/run", "> ${compiled_target_dir}/out.yaml"))
    world.compile(policy=TrustPolicy(shell=("a",)))
    assert world.read("a/out.yaml") == "a: 1\n"
