"""Lengths and depths of what comes from outside: each ends with a code, a place or a subject, and a hint, or works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.argocd.appsets.functions import template_functions
from commodore.base.gotemplate import Template, TemplateProblem
from commodore.core.sources.git.urls import redact_text
from tests.argocd.comparing.conftest import URL, app
from tests.world.cluster import ClusterWorld
from tests.world.folders import write_files
from tests.world.kargo import at, drifted
from tests.world.program import Result, run_here

TEXTS = {
    "name": "x" * 300,
    "path": "/".join(["abc"] * 1300),
    "nul": "a\0b",
    "references": "${a:" * 3000 + "b" + "}" * 3000,
    "keys": "${" + ":".join(["a"] * 5000) + "}",
    "long": "x" * 100_000,
}
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def ends_well(result: Result, told: str = "Error") -> list[str]:
    """The codes of a run that is not an internal error, each with a hint; ENG-008 says what was expected in its
    message.
    """
    assert result.code in range(6), result.stderr[-2000:]
    errors = [event for event in result.events if event["event"] == told]
    assert [error for error in errors if not error["hint"] and error["code"] != "CMD-ENG-008"] == []
    return [error["code"] for error in errors]


@pytest.fixture(scope="module")
def world(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> ClusterWorld:
    made = ClusterWorld(tmp_path_factory.mktemp("lengths"))
    made.component("app", data={"a": "1"})
    assert made.compile().code == 0
    return made


@pytest.fixture
def compiled(world: ClusterWorld) -> Callable[..., list[str]]:
    """The codes with which a local compile ends if the component's class is another one."""
    file = world.work / "dependencies/app/class/app.yml"
    own = file.read_text()

    def compile_with(text: str) -> list[str]:
        file.write_text(text)
        try:
            return ends_well(world.compile("--local"))
        finally:
            file.write_text(own)

    return compile_with


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_in_classes(compiled: Callable[..., list[str]], text: str) -> None:
    entry = {"input_type": "copy", "input_paths": [text], "output_path": text, "input_params": {text: text}}
    dependency = {"type": "git", "source": text, "output_path": text, "ref": text}
    named = {"type": "jsonnet", "filter": text, "path": text, "filterargs": {text: text}}
    kapitan = {"compile": [entry], "dependencies": [dependency]}
    parameters = {"kapitan": kapitan, "commodore": {"postprocess": {"filters": [named]}}, text: text}
    assert compiled(yaml.safe_dump({"parameters": parameters}))


@pytest.mark.parametrize(
    "text",
    [
        "parameters: {x: " + "[" * 5000 + "]" * 5000 + "}",
        "parameters: {x: " + "{a: " * 5000 + "x" + "}" * 5000 + "}",
        "parameters: &a {x: *a}",
        "parameters: {[a]: 1}",
        "parameters: {kapitan: {compile: [a]}}",
        "parameters: {kapitan: {dependencies: [{type: {1: 2, ~: 3}}]}}",
        "parameters: {kapitan: {dependencies: [{type: git, source: x, output_path: " + "9" * 5000 + "}]}}",
        "classes: [" + "x" * 10_000 + "]",
        "classes: ['" + ".".join(["a"] * 5000) + "']",
    ],
    ids=["lists", "maps", "alias", "key", "entry", "keys", "integer", "class", "folders"],
)
def test_shapes_of_classes(compiled: Callable[..., list[str]], text: str) -> None:
    assert compiled(text)


@pytest.mark.parametrize("text", ["x" * 300, "/".join(["abc"] * 1300)], ids=["name", "path"])
@pytest.mark.parametrize("place", ["-d", "XDG_CACHE_HOME", "TMPDIR"])
def test_folders_of_the_user(tmp_path: Path, text: str, place: str) -> None:
    folder = str(tmp_path / text)
    words = ["--log-format", "json", *(["-d", folder] if place == "-d" else []), "catalog", "compile", "c", "--local"]
    assert ends_well(run_here(words, tmp_path, {"PATH": "/usr/bin:/bin", **({place: folder} if place != "-d" else {})}))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_in_applications(tmp_path: Path, text: str) -> None:
    """Each Application fails for itself; the sound one is rendered."""
    sources: dict[str, dict[str, Any]] = {
        "path": {"path": text},
        "values": {"path": "chart", "helm": {"valueFiles": [text]}},
        "file": {"path": "chart", "helm": {"fileParameters": [{"name": "x", "path": text}]}},
        "library": {"path": "plain", "directory": {"jsonnet": {"libs": [text]}}},
        "name": {"path": "plain", "kustomize": {"namePrefix": text}},
    }
    files = {f"{name}.yaml": app(name, "x", source={"repoURL": URL, **source}) for name, source in sources.items()}
    chart = {"chart/Chart.yaml": "{apiVersion: v2, name: c, version: 1.0.0}\n", "chart/templates/a.yaml": CONFIG}
    write_files(tmp_path, {**files, **chart, "sound.yaml": app("sound", "plain"), "plain/a.yaml": CONFIG})
    result = run_here(["--log-format", "json", "argocd", "render", "--self-url", URL, "--offline"], tmp_path)
    assert ends_well(result, "Diagnostic")
    assert "argocd/sound" in result.stdout


def test_a_template_that_includes_itself(tmp_path: Path) -> None:
    template = '{{ define "a" }}{{ include "a" . }}{{ end }}x: {{ include "a" . }}\n'
    chart = {"chart/Chart.yaml": "{apiVersion: v2, name: c, version: 1.0.0}\n", "chart/templates/a.yaml": template}
    write_files(tmp_path, {**chart, "a.yaml": app("a", "chart")})
    result = run_here(["--log-format", "json", "argocd", "render", "--self-url", URL, "--offline"], tmp_path)
    (said,) = [json.loads(line) for line in result.stderr.splitlines() if "CMD-ARGO-405" in line]
    assert "the template 'a' includes itself without end" in said["message"]


NINES = "9" * 5000


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (f'{{{{ atoi "{NINES}" }}}}', str(2**63 - 1)),
        (f'{{{{ int64 "{NINES}" }}}}', "0"),
        (f'{{{{ toYaml "{NINES}" }}}}', NINES),
        (f'{{{{ toYaml (dict "a{NINES}" 1 "a1" 2) }}}}', None),
        (f'{{{{ duration "{NINES}" }}}}', None),
        (f'{{{{ printf "%[{NINES}]d" 1 }}}}', None),
        (f'{{{{ printf "%{NINES}d" 1 }}}}', None),
    ],
    ids=["atoi", "int64", "text", "keys", "duration", "argument", "width"],
)
def test_numbers_of_thousands_of_digits_in_templates(call: str, result: str | None) -> None:
    shown = Template(call, functions=template_functions()).render({})
    assert result in (None, shown)


@pytest.mark.parametrize("call", [f"{{{{ {NINES} }}}}", f'{{{{ semver "{NINES}" }}}}'], ids=["literal", "version"])
def test_numbers_that_end_a_template(call: str) -> None:
    with pytest.raises(TemplateProblem):
        Template(call, functions=template_functions()).render({})


@pytest.mark.parametrize("part", ["${a:", "a:b ", "://", "@"], ids=["references", "pairs", "schemes", "ats"])
def test_long_texts_without_credentials_stay(part: str) -> None:
    """Each letter is looked at once: this would take a minute otherwise."""
    text = part * 25_000
    assert redact_text(text) == text


@pytest.mark.parametrize("key", ["2024-01-01", "~", "1", "1.5", "true"])
def test_keys_of_steps_of_kargo(tmp_path: Path, key: str) -> None:
    """Kubernetes reads each as text."""
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": list(drifted())})
    (tmp_path / "a.yaml").write_text(text.replace("config:\n", f"config:\n            {key}: 1\n", 1))
    assert "config:" in text
    ends_well(run_here(["--log-format", "json", "observe", "plan", "a.yaml", "-o", "json", "--at", at(0)], tmp_path))
