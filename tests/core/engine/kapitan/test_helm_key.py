"""A chart rendered by helm is reused by every instance with the same inputs."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.core.engine import Engine
from commodore.core.render.random_templates import is_random
from tests.core.engine.world import Kept, World, jsonnet
from tests.world.context import make_context

# Writes all that it was given, and counts.
HELM = """
if [ "$1" = version ]; then echo 3.0.0; exit; fi
echo run >> "$HOME/runs"
given="$*"
while [ $# -gt 0 ]; do
  case $1 in --output-dir) out=$2; shift;; --values) values="$values $2"; shift;; *) chart=$1;; esac
  shift
done
mkdir -p "$out/c/templates"
{ echo "args: '$given' " | sed "s|/[^ ']*||g"; echo "files: |"
  cat $values "$chart"/*.yaml | sed 's/^/  /'; } > "$out/c/templates/a.yaml"
"""
URL = "{ out: { url: (import 'lib/kapitan.libjsonnet').inventory().parameters.cluster.catalog_url } }"


def cluster(kept: Kept, root: Path, name: str, **changes: Any) -> World:
    """An instance with a chart and, as most have it, a file with the URL of the cluster's catalog."""
    world = kept.world(root / name)
    world.tool("helm", HELM)
    world.environment["HOME"] = str(root)
    chart = {
        "input_type": "helm",
        "input_paths": ["app/chart"],
        "output_path": "out",
        "helm_params": {"name": "r", "namespace": "n"},
        "helm_values": {"v": 1},
        **changes,
    }
    facts = {"name": name, "tenant": "t", "catalog_url": f"https://git.example.com/{name}"}
    world.add("app", jsonnet("app/main.jsonnet"), chart, cluster=facts)
    world.write("dependencies/app/main.jsonnet", URL)
    world.write("dependencies/app/chart/Chart.yaml", "name: c\n")
    world.write("dependencies/app/more.yaml", "more: 1\n")
    return world


def compile_(world: World) -> str:
    (compiled,) = world.compile()
    assert not compiled.reused  # the URL is another one in each cluster
    return world.read("app/out/c/templates/a.yaml")


def runs(root: Path) -> int:
    return len((root / "runs").read_text().splitlines())


def test_another_cluster_takes_the_chart(kept: Kept, tmp_path: Path) -> None:
    first = compile_(cluster(kept, tmp_path, "one"))
    two = cluster(kept, tmp_path, "two")
    assert compile_(two) == first
    assert runs(tmp_path) == 1
    assert two.read("app/out.yaml") == "url: https://git.example.com/two\n"


CHANGES: dict[str, tuple[dict[str, Any], Callable[[World], object]]] = {
    "values": ({"helm_values": {"v": 2}}, lambda w: None),
    "no values": ({"helm_values": {}}, lambda w: None),
    "a file with values": ({"helm_values_files": ["dependencies/app/more.yaml"]}, lambda w: None),
    "the name": ({"helm_params": {"name": "s", "namespace": "n"}}, lambda w: None),
    "the namespace": ({"helm_params": {"name": "r", "namespace": "m"}}, lambda w: None),
    "a parameter": ({"helm_params": {"name": "r", "namespace": "n", "no_hooks": True}}, lambda w: None),
    "the version of Kubernetes": ({"kube_version": "1.30"}, lambda w: None),
    "the chart": ({}, lambda w: w.write("dependencies/app/chart/Chart.yaml", "name: c\nversion: 2\n")),
    "a new file of the chart": ({}, lambda w: w.write("dependencies/app/chart/new.yaml", "new\n")),
    "helm": ({}, lambda w: w.tool("helm", HELM + "\n: another one")),
    "a variable": ({}, lambda w: w.environment.update(HELM_OPTION="x")),
}


def test_all_that_helm_depends_on_counts(kept: Kept, engine: Engine, tmp_path: Path) -> None:
    """And what comes of a change is what helm makes without a cache."""
    compile_(cluster(kept, tmp_path, "one"))
    for number, (change, (changes, do)) in enumerate(CHANGES.items()):
        before = runs(tmp_path)
        world = cluster(kept, tmp_path, f"two-{number}", **changes)
        do(world)
        made = compile_(world)
        assert runs(tmp_path) == before + 1, change
        world.engine = engine
        assert compile_(world) == made, change


def test_random_values_stay_in_their_cluster(kept: Kept, tmp_path: Path) -> None:
    """They may be secrets: neither the chart's nor the instance's result is given to another cluster."""
    worlds = []
    for name in ("one", "two"):
        world = cluster(kept, tmp_path, name)
        world.write("dependencies/app/main.jsonnet", "{}")
        world.write("dependencies/app/chart/templates/secret.txt", "{{ randAlphaNum 8 }}")
        worlds.append(world)
    assert [compiled.reused for world in worlds for compiled in world.compile()] == [False, False]
    assert runs(tmp_path) == 2
    assert [compiled.reused for world in worlds for compiled in world.compile()] == [True, True]


LONG = "{{ if .Values.x }}\nit works now, now: {{ .Values.y }} and now }} }\n{{ end }} now"


@pytest.mark.parametrize(
    "text",
    [
        "random",
        "knowledge",
        "grand",
        "generate",
        "{{ .Values.now_or_never }}",
        "{{ .Values.update }}",
        "now: 1",
        LONG,
        "{{ x }} {{",
    ],
)
def test_words_that_only_look_random(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    assert not is_random(str(tmp_path), [str(tmp_path / "file")])


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"{{{{ {function} }}}}"
            for function in (
                *("now", "randAlphaNum 8", "genCA", "genSignedCert", "uuidv4", "htpasswd", "shuffle"),
                'date "2006"',
            )
        ),
        "{{- now | date -}}",
        "{{ .x }} {{\n  now\n}}",
        '{{ f "}}" now }}',
        '{{ f "\\"}}" now }}',
        "{{ f `}}` now }}",
        "{{ f '}' now }}",
        "{{/* it's a }} */}}{{ now }}",
        "{{- /* it's a }} */ -}} {{ now }}",
        "it's {{ tpl `{{ now }}` . }}",
        '{{ "{{" }} {{ now }} {{ "}}" }}',
        "{{ it's not closed }} now",
        "{{ not closed now",
        '{{ $x := dict "a" (dict "b" (now)) }}',
    ],
)
def test_words_that_are_random(tmp_path: Path, text: str) -> None:
    (tmp_path / "chart").mkdir()
    assert not is_random(str(tmp_path / "chart"))
    (tmp_path / "values.yaml").write_text(text)
    assert is_random(str(tmp_path / "chart"), [str(tmp_path / "values.yaml")])
    (tmp_path / "values.yaml").rename(tmp_path / "chart" / "template.yaml")
    assert is_random(str(tmp_path / "chart"))


@pytest.mark.parametrize("value", ["randAlphaNum 8", "genPrivateKey `rsa`", "uuidv4", "encryptAES .Values.key"])
def test_values_that_templates_compute(tmp_path: Path, value: str) -> None:
    """Some charts put the braces around a value themselves."""
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart/secret.yaml").write_text('a: {{ tpl (printf "{{ %s }}" .Values.password) . }}')
    (tmp_path / "values.yaml").write_text(f"password: {value}\n")
    assert not is_random(str(tmp_path / "chart"))
    assert is_random(str(tmp_path / "chart"), [str(tmp_path / "values.yaml")])


def test_a_packed_chart_may_be_anything(tmp_path: Path) -> None:
    (tmp_path / "chart-1.tgz").write_bytes(gzip.compress(b"harmless"))
    assert is_random(str(tmp_path))


def test_a_chart_without_a_name_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    """Helm makes up another name each time."""
    for name in ("one", "two"):
        cluster(kept, tmp_path, name, helm_params={"namespace": "n"}).compile()
    assert runs(tmp_path) == 2


def test_shadow_mode_asks_helm_again(kept: Kept, tmp_path: Path) -> None:
    world = cluster(kept, tmp_path, "one")
    compile_(world)
    with Engine(
        make_context(), processes=1, dependency_cache=kept.dependencies, result_cache=kept.results, shadow=1.0
    ) as engine:
        world.engine = engine
        world.compile()
    assert runs(tmp_path) == 2


def test_a_failure_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    for name in ("one", "two"):
        world = cluster(kept, tmp_path, name)
        world.tool("helm", HELM + "\necho no >&2; exit 1")
        assert world.fail_once().code == "CMD-ENG-018"
    assert runs(tmp_path) == 2


def test_random_values_in_values(kept: Kept, tmp_path: Path) -> None:
    """A chart may take values for templates."""
    for name in ("one", "two"):
        compile_(cluster(kept, tmp_path, name, helm_values={"password": "{{ randAlphaNum 8 }}"}))
    assert runs(tmp_path) == 2


def test_random_templates_behind_links(tmp_path: Path) -> None:
    """Helm follows links to folders: what several charts share may make passwords, too."""
    shared, chart = tmp_path / "shared", tmp_path / "chart"
    shared.mkdir()
    chart.mkdir()
    (chart / "templates").symlink_to("../shared")
    (shared / "up").symlink_to("../chart")
    (shared / "secret.yaml").write_text("password: {{ .Values.password }}")
    assert not is_random(str(chart))
    (shared / "secret.yaml").write_text("password: {{ randAlphaNum 8 }}")
    assert is_random(str(chart))
