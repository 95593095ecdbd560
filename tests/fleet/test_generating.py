"""Generating: what lies in `rendered/` afterwards, in both styles, and what is left alone."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.events import Warned
from commodore.base.files.file_lock import hold
from commodore.fleet import chart_files
from commodore.fleet.generating import GenerateOptions, Selection, generate
from commodore.fleet.previewing import preview
from commodore.fleet.values_text import as_yaml
from tests.fleet.conftest import APP, CELLS, CONFIG, WEB, World, charts, manifests, patch
from tests.world.folders import write_script

CHART = [
    "Chart.yaml",
    "templates/_resolve.tpl",
    "templates/application.yaml",
    "templates/applicationset.yaml",
    "values.yaml",
]


@pytest.mark.requirement("F1", "F2", "F11", "F42", "F43", "F47")
def test_a_cell_is_a_chart(world: World) -> None:
    files = {
        f"{APP}/metadata.yaml": "name: web\ndescription: d\nowners: [a]\nlinks: [https://a.b]\n",
        f"{APP}/OWNERS": "approvers: [a]\n",
    }
    done = world.lay(charts(**files)).generate()
    assert sorted(world.rendered()) == sorted(f"main/{cell}/{name}" for cell in CELLS for name in CHART)
    assert done.files == len(world.rendered())
    assert world.rendered()["main/int/int-1/r1/Chart.yaml"].decode() == (
        "apiVersion: v2\nname: main-apps\ndescription: ArgoCD applications for main in int/int-1/r1\nversion: 1.0.0\n"
    )
    assert list(world.values(CELLS[0])) == ["applications"]
    assert done.report.added("warning") == []


def test_a_cell_of_manifests(world: World) -> None:
    world.lay(manifests()).generate()
    names = ["Chart.yaml", "templates/db.yaml", "templates/web.yaml", "values.yaml"]
    assert sorted(world.rendered()) == sorted(f"main/{cell}/{name}" for cell in CELLS for name in names)
    assert world.rendered()["main/int/int-1/r1/Chart.yaml"].decode() == (
        "apiVersion: v2\nname: main-int-int-1-r1\ndescription: Generated ArgoCD resources for main/int/int-1/r1\n"
        "type: application\nversion: 0.1.0\nappVersion: '1.0'\n"
    )
    assert world.values(CELLS[5])["cluster"] == {"environment": "prod", "sector": "prod-2", "region": "eu"}
    web = yaml.safe_load(world.rendered()["main/int/int-1/r1/templates/web.yaml"])
    assert (web["kind"], web["spec"]["destination"], web["spec"]["source"]["targetRevision"]) == (
        "Application",
        {"name": "in-cluster"},
        "v4.17.0",
    )


@pytest.mark.requirement("F40")
@pytest.mark.parametrize("style", [charts, manifests])
def test_the_same_input_gives_the_same_bytes_and_touches_nothing(world: World, style: Any) -> None:
    assert world.lay(style()).generate().change
    before = {path: path.stat().st_mtime_ns for path in (world.root / "rendered").rglob("*")}
    content = world.rendered()
    assert not world.generate().change
    assert not world.generate(write=False).change
    assert {path: path.stat().st_mtime_ns for path in (world.root / "rendered").rglob("*")} == before
    assert world.rendered() == content


def test_files_that_stay_the_same_keep_their_times(world: World) -> None:
    world.lay(charts()).generate()
    stays, changes = (world.root / "rendered/main" / cell / "values.yaml" for cell in (CELLS[0], CELLS[3]))
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in (stays, changes)]
    world.lay({f"{APP}/prod/values.yaml": patch("project: p")}).generate()
    after = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in (stays, changes)]
    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.requirement("F41", "F50", "F53", "FP9")
def test_stale_output_is_found_and_goes(world: World) -> None:
    world.lay(charts()).generate()
    stale = world.root / "rendered/old/int/int-1/r1"
    stale.mkdir(parents=True)
    (stale / "Chart.yaml").write_text("x")
    (world.root / "rendered/main" / CELLS[0] / "values.yaml").write_text("x")
    result = world.generate(write=False).change
    assert [(file.kind, file.new_path) for file in result.files] == [
        ("deleted", "old/int/int-1/r1/Chart.yaml"),
        ("modified", "main/int/int-1/r1/values.yaml"),
    ]
    assert stale.exists()
    world.generate()
    assert not stale.exists()


@pytest.mark.requirement("F45")
def test_an_escaped_expression_beside_the_same_one_that_is_resolved(world: World) -> None:
    """Only an expression that stays by mistake is a finding: the escaped one is for what is deployed."""
    expression = "{{ .Values.cluster.region }}"
    escaped = f"{{{{`{expression}`}}}}"
    values = {"esc": escaped, "plain": expression}
    world.lay(charts(**{f"{APP}/int/values.yaml": patch(f"source: {{helm: {{valuesObject: {values!r}}}}}")}))
    world.generate(strict=True)
    world.lay({"templates/a.yaml": "{{ range .Values.applications }}\n---\n{{ toYaml . }}\n{{ end }}"})
    assert [error.code for error in world.refused(strict=True)] == ["CMD-FLT-051"]


@pytest.mark.requirement("F58", "F66")
def test_the_mistakes_of_all_files_are_reported_at_once(world: World) -> None:
    world.lay(
        charts(
            **{
                f"{APP}/values.yaml": "applications: [1]\n",
                f"{APP}/int/patch-1.yaml": "metadata: {ids: x}\napplications: {web: {project: p}}\n",
                "config/main/db/OWNERS": "approvers: 3\n",
                "OWNERS_ALIASES": "aliases: {team: ann}\n",
                "config/OWNERS": "approver: [a]\nfilters: {'(': {}}\n",
            }
        )
    )
    places = {(error.code, str(error.locations[0]).partition(":")[0]) for error in world.refused()}
    assert places == {
        ("CMD-FLT-003", f"{APP}/values.yaml"),
        ("CMD-FLT-003", f"{APP}/int/patch-1.yaml"),
        ("CMD-FLT-003", "config/main/db/OWNERS"),
        ("CMD-FLT-003", "OWNERS_ALIASES"),
        ("CMD-FLT-082", "config/OWNERS"),
    }
    assert [event.hint for event in world.events if isinstance(event, Warned)] == [
        "did you mean 'approvers' or 'emeritus_approvers'?"
    ]


@pytest.mark.requirement("F65")
def test_a_template_that_always_fails_is_the_charts_mistake(world: World) -> None:
    """It is reported once, and not of each application."""
    built_in = Path(chart_files.__file__).parent / "chart"
    files = {f"templates/{path.name}": path.read_text() for path in built_in.iterdir() if path.name != "_plain.tpl"}
    world.lay(charts(**files, **{"templates/bad.yaml": '\nx: {{ .Values.nope | required "nope is needed" }}\n'}))
    [error] = world.refused()
    assert (error.code, [str(location) for location in error.locations]) == ("CMD-FLT-056", ["templates/bad.yaml:2"])
    assert error.message.startswith(
        "helm fails: nope is needed; the chart in templates fails whatever the applications"
    )


def test_a_mistake_at_many_nodes_is_one_error(world: World) -> None:
    world.lay(charts(**{"config/config.yaml": CONFIG.replace("sectors, regions]", "sectors, region]")}))
    errors = world.refused()
    assert [error.code for error in errors] == ["CMD-FLT-004", "CMD-FLT-003"]
    assert [len(error.locations) for error in errors] == [4, 4]
    assert "(and 3 more)" in errors[0].message


@pytest.mark.requirement("F39", "FP1")
def test_nothing_is_written_if_one_cell_is_wrong(world: World) -> None:
    world.lay(manifests()).generate()
    before = world.rendered()
    world.lay({f"{APP}/prod/prod-2/eu/override.yaml": patch("project: '{{ nofunc }}'")})
    world.lay({f"{APP}/int/override.yaml": patch("project: other")})
    assert [error.code for error in world.refused()] == ["CMD-FLT-056"]
    assert world.rendered() == before
    assert sorted(os.listdir(world.root / ".commodore")) == [".gitignore", "lock"]


@pytest.mark.requirement("F48", "F49")
def test_a_limited_run_replaces_the_chosen_cells(world: World) -> None:
    world.lay(charts()).generate()
    for cell in CELLS:
        (world.root / "rendered/main" / cell / "values.yaml").write_text("stale")
    chosen = Selection(("main",), {"environments": ("int",), "sectors": ("int-1",), "regions": ("r2",)})
    world.generate(chosen)
    stale = [cell for cell in CELLS if world.rendered()[f"main/{cell}/values.yaml"] == b"stale"]
    assert stale == [cell for cell in CELLS if cell != "int/int-1/r2"]


def test_what_is_not_the_generators_stops_a_full_run(world: World) -> None:
    world.lay(charts()).generate()
    foreign = world.root / "rendered/notes.txt"
    foreign.write_text("mine")
    world.lay({f"{APP}/prod/values.yaml": patch("project: p")})
    with pytest.raises(PolicyError) as caught:
        world.generate()
    assert (caught.value.code, caught.value.exit_code) == ("CMD-FLT-059", 4)
    world.generate(Selection((), {"environments": ("int",)}))
    assert foreign.exists()
    world.generate(force=True)
    assert not foreign.exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_or_link_that_is_called_like_the_output_stays(world: World, kind: str) -> None:
    world.lay(charts())
    top = world.root / "rendered"
    (world.root / "elsewhere").mkdir()
    top.symlink_to("elsewhere") if kind == "link" else top.write_text("mine")
    assert [error.code for error in world.refused()] == ["CMD-FLT-059"]
    assert top.is_symlink() if kind == "link" else top.read_text() == "mine"
    world.generate(force=True)
    assert top.is_dir()
    assert not top.is_symlink()


def test_names_that_a_chart_writes_without_quotes(world: World) -> None:
    files = {
        "argocd-apps/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
        "argocd-apps/templates/a.yaml": "{{ range $name, $_ := .Values.applications }}\n---\nkind: A\napiVersion: v1\n"
        "metadata:\n  name: {{ $name }}\n{{ end }}",
        f"{APP}/values.yaml": "".join(
            [WEB, *(WEB.partition("\n")[2].replace("web:", f'"{name}":', 1) for name in ("0x1f", "true", "1password"))]
        ),
    }
    report = world.lay(manifests(**files)).generate().report
    cell = "main/int/int-1/r1/templates"
    assert {name: world.rendered()[f"{cell}/{name}.yaml"].split()[-1] for name in ("31", "True", "1password")} == {
        "31": b"31",
        "True": b"true",
        "1password": b"1password",
    }
    assert [(item.code, item.message.partition(": ")[2]) for item in report.added("warning")] == [
        ("CMD-FLT-063", "31.yaml, True.yaml")
    ]


def test_quotes_in_other_templates_have_nothing_to_do_with_application_sets(world: World) -> None:
    files = {
        "templates/application.yaml": "{{ range .Values.applications }}a: {{ .b | squote }}\n---\n{{ end }}",
        "templates/sets.yaml": "{{ range .Values.applicationsets }}{{ toYaml . }}{{ end }}\n",
        f"{APP}/values.yaml": WEB + "applicationsets: {s: {template: {metadata: {name: it's}}}}\n",
    }
    world.lay(charts(**files)).generate(write=False)


_WITH_DEPENDENCY = (
    "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies: [{name: lib, version: 0.1.0, repository: %s}]\n"
)


def test_a_chart_whose_dependencies_are_there(world: World) -> None:
    files = {
        "argocd-apps/Chart.yaml": _WITH_DEPENDENCY % "file://../lib",
        "argocd-apps/charts/lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 0.1.0\ntype: library\n",
        "argocd-apps/charts/lib/templates/_kind.tpl": '{{ define "kind" }}Found{{ end }}',
        "argocd-apps/templates/a.yaml": 'apiVersion: v1\nkind: {{ include "kind" . }}\nmetadata: {name: x}\n',
    }
    world.lay(manifests(**files)).generate()
    assert b"kind: Found\n" in world.rendered()["main/int/int-1/r1/templates/x.yaml"]


def test_a_chart_whose_dependencies_are_not_there(world: World) -> None:
    files = {
        "templates/Chart.yaml": _WITH_DEPENDENCY % "oci://charts.example.com",
        "templates/a.yaml": "{kind: A, apiVersion: v1, metadata: {name: x}, spec: {{ toJson .Values }}}\n",
    }
    assert [item.code for item in world.lay(charts(**files)).generate().report.added("warning")] == ["CMD-FLT-029"]
    (error,) = world.lay({"templates/Chart.yaml": _WITH_DEPENDENCY % "file://../lib"}).refused()
    assert (error.code, "copy those of the other chart" in error.hint) == ("CMD-FLT-056", True)


def test_finished_resources_need_the_dependencies_of_their_chart(world: World) -> None:
    files = {
        "argocd-apps/Chart.yaml": _WITH_DEPENDENCY % "oci://charts.example.com",
        "argocd-apps/templates/a.yaml": "a: 1\n",
    }
    (error,) = world.lay(manifests(**files)).refused()
    assert (error.code, "helm dependency build argocd-apps" in error.hint) == ("CMD-FLT-056", True)


def test_two_runs_at_once(world: World) -> None:
    world.lay(charts())
    (world.root / ".commodore").mkdir()
    with hold(world.root / ".commodore/lock", wait=0, signed=True), pytest.raises(PolicyError) as caught:
        world.generate()
    assert caught.value.code == "CMD-WORK-002"


@pytest.mark.requirement("F45", "F46", "FP15")
def test_text_stays_text(world: World) -> None:
    """Everything that helm would read as a number or a boolean is quoted, in values and keys; helm gives the same
    back.
    """
    words = [
        "08",
        "1e3",
        "1234e56",
        "0o17",
        "0X1F",
        ".5e3",
        "1.e3",
        "+1e3",
        "1_0e3",
        "y",
        "N",
        "1e-7",
        "123e456",
        "=",
    ]
    odd = {
        **{word: word for word in words},
        "merge": "<<",
        "number": 1.5e21,
        "small": 1.5e-7,
        "escaped": "{{`{{ .x }}`}}",
        "yes": True,
    }
    text = patch(f"source: {{helm: {{valuesObject: {json.dumps(odd)}}}}}")
    world.lay(charts(**{f"{APP}/int/values.yaml": text})).generate()
    values = world.values(CELLS[0])["applications"]["web"]["source"]["helm"]["valuesObject"]
    assert {key: values[key] for key in odd} == odd
    lines = world.rendered()["main/int/int-1/r1/values.yaml"].decode().splitlines()
    assert "          '08': '08'" in lines
    assert "          'y': 'y'" in lines
    assert "          escaped: '{{`{{ .x }}`}}'" in lines
    result = preview(world.root, CELLS[0], None, None, world.context)
    web = next(item for item in result if item["metadata"]["name"] == "web")
    seen = web["spec"]["source"]["helm"]["valuesObject"]
    assert {key: seen[key] for key in odd} == {**odd, "escaped": "{{ .x }}"}


@pytest.mark.requirement("FP15")
def test_text_stays_text_through_both_passes(world: World) -> None:
    words = ["08", "1e3", "1234e56", "0o17", "y", "1e-7", "123e456", "="]
    text = patch(f"source: {{helm: {{valuesObject: {json.dumps({word: word for word in words})}}}}}")
    world.lay(manifests(**{f"{APP}/int/override.yaml": text})).generate()
    web = yaml.safe_load(world.rendered()["main/int/int-1/r1/templates/web.yaml"])
    seen = web["spec"]["source"]["helm"]["valuesObject"]
    assert {word: seen[word] for word in words} == {word: word for word in words}


@pytest.mark.requirement("FP15")
def test_no_anchors(world: World) -> None:
    shared = "applications:\n  web: &a\n    source: {repoURL: x}\n  web2: *a\n"
    world.lay(charts(**{f"{APP}/values.yaml": shared})).generate()
    assert b"&id" not in world.rendered()["main/int/int-1/r1/values.yaml"]


# the template


@pytest.mark.requirement("F44")
def test_the_template_writes_all_fields_and_leaves_out_what_is_empty(world: World) -> None:
    full = {
        "additionalAnnotations": {"a": 1, "b": True, "c": "x"},
        "additionalLabels": {"l": "x"},
        "namespace": "argocd",
        "finalizers": ["f"],
        "project": "p",
        "sources": [{"repoURL": "x"}],
        "destination": {"server": "s"},
        "syncPolicy": {"automated": {"prune": False}},
        "revisionHistoryLimit": 0,
        "ignoreDifferences": [{"kind": "K"}],
        "info": [{"name": "n", "value": "v"}],
    }
    empty = {"project": "p", "source": {"repoURL": "x"}, "destination": {"name": "x"}, "info": [], "syncPolicy": None}
    apps = {"applications": {"full": full, "empty": empty, "gone": None}}
    sets = {"applicationsets": {"set": {"goTemplate": False, "generators": [{"list": {}}], "template": {"spec": {}}}}}
    files = {
        f"{APP}/values.yaml": json.dumps(apps | sets),
        "config/main/application-defaults.yaml": "defaults: {info: []}",
    }
    world.lay(charts(**files, **{"config/main/db/values.yaml": None})).generate()
    results = {
        item["metadata"]["name"]: item for item in preview(world.root, f"main/{CELLS[0]}", None, None, world.context)
    }
    assert sorted(results) == ["empty", "full", "set"]
    spec = {key: full[key] for key in full if key[:3] not in ("add", "nam", "fin")}
    assert results["full"]["spec"] == spec
    assert results["full"]["metadata"] == {
        "name": "full",
        "namespace": "argocd",
        "annotations": {"a": "1", "b": "true", "c": "x"},
        "labels": {"l": "x"},
        "finalizers": ["f"],
    }
    assert sorted(results["empty"]["spec"]) == ["destination", "project", "source"]
    assert results["set"]["spec"]["goTemplate"] is False


@pytest.mark.requirement("F55", "FP17")
def test_a_clusters_values_are_resolved_text_by_text(world: World, tmp_path: Path) -> None:
    fields = ["project: 'p-{{ .Values.cluster.region }}'", "destination: {name: '{{ .Values.cluster.name }}'}"]
    files = {f"{APP}/int/values.yaml": patch("\n".join(fields))}
    world.lay(charts(**files)).generate()
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump({"name": "x'\nserver: evil", "region": "r1"}))
    result = preview(world.root, CELLS[0], "main", tmp_path / "cluster.yaml", world.context)
    web = next(item for item in result if item["metadata"]["name"] == "web")
    assert web["spec"]["project"] == "p-r1"
    assert web["spec"]["destination"] == {"name": "x'\nserver: evil"}  # one text, whatever it holds


@pytest.mark.requirement("F38")
def test_a_template_of_ones_own(world: World) -> None:
    files = {
        "templates/Chart.yaml": "# ours\nname: '{{ cluster_type }}-{{ environment }}'\nversion: 2.0.0-{{region}}\n"
        "apiVersion: v2\n",
        "templates/app.yaml": "a: {{ .Values.applications | toJson }}\n",
        "templates/README.md": "x",
        "templates/values-example.yaml": "x",
    }
    world.lay(charts(**files)).generate()
    cell = "main/int/int-1/r1"
    assert {
        path.removeprefix(f"{cell}/"): text for path, text in world.rendered().items() if path.startswith(cell)
    } == {
        "Chart.yaml": b"# ours\nname: 'main-int'\nversion: 2.0.0-r1\napiVersion: v2\n",
        "templates/app.yaml": files["templates/app.yaml"].encode(),
        "values.yaml": world.rendered()[f"{cell}/values.yaml"],
    }


def test_a_chart_yaml_without_placeholders(world: World) -> None:
    world.lay(
        charts(**{"templates/Chart.yaml": "version: 3.0.0\nname: x\ntype: application\napiVersion: v2\n"})
    ).generate()
    assert world.rendered()["main/int/int-1/r1/Chart.yaml"].decode() == (
        "version: 3.0.0\nname: main-apps\ntype: application\napiVersion: v2\n"
        "description: ArgoCD applications for main in int/int-1/r1\n"
    )


def test_a_chart_yaml_of_ones_own_is_for_charts_only(world: World) -> None:
    files = {
        "templates/Chart.yaml": "apiVersion: v2\nname: '{{ cluster_type }}'\nversion: 2.0.0\n",
        "templates/app.yaml": "{kind: A, apiVersion: v1, metadata: {name: x}}\n",
    }
    world.lay(manifests(**files)).generate()
    assert b"name: main-int-int-1-r1\n" in world.rendered()["main/int/int-1/r1/Chart.yaml"]


def test_keys_of_cluster_values_may_have_dots(world: World) -> None:
    said = {f"{APP}/int/values.yaml": patch('project: \'{{ index .Values.cluster "a.b/c" | required "none" }}\'')}
    assert world.lay(charts(**said)).generate(need_helm=True).report.added("warning") == []


def test_cluster_values_may_be_of_any_kind(world: World, tmp_path: Path) -> None:
    sample = "generator: {sample_cluster: {since: 2024-01-02, name: c}}\n"
    said = {
        "config/config.yaml": CONFIG + sample,
        f"{APP}/int/values.yaml": patch("project: '{{ .Values.cluster.name }}'"),
    }
    world.lay(charts(**said)).generate(need_helm=True)
    (tmp_path / "cluster.yaml").write_text("since: 2024-01-02\nname: c\n")
    result = preview(world.root, CELLS[0], "main", tmp_path / "cluster.yaml", world.context)
    assert {item["metadata"]["name"]: item["spec"]["project"] for item in result} == {"db": "default", "web": "c"}


def test_sets_are_written_in_one_order() -> None:
    letters = {chr(97 + number) for number in range(26)}
    written = as_yaml({"set": letters}).splitlines()
    assert written == ["set: !!set", *(f"  {yaml_key(letter)}: null" for letter in sorted(letters))]


def yaml_key(text: str) -> str:
    return f"'{text}'" if text in "yn" else text


def test_choices_can_be_made_one_by_one(world: World) -> None:
    said = "generator: {output: manifests, inject_dimensions: true, chart_naming: charts}\n"
    world.lay(charts(**{"config/config.yaml": CONFIG + said})).generate()
    assert b"name: main-apps" in world.rendered()["main/int/int-1/r1/Chart.yaml"]
    assert "main/int/int-1/r1/templates/web.yaml" in world.rendered()
    assert list(world.values(CELLS[0])) == ["cluster", "applications"]


def test_a_fleet_of_one_dimension_and_of_four(tmp_path: Path) -> None:
    for number, dimensions in enumerate((["envs"], ["a", "b", "c", "d"])):
        nodes: Any = [{"name": "x"}, "y"]
        for dimension in reversed(dimensions[1:]):
            nodes = [{"name": "m", dimension: nodes}]
        config = {"dimensions": dimensions, "sequence": {dimensions[0]: nodes}, "cluster_types": ["main"]}
        root = tmp_path / str(number)
        root.mkdir()
        world = World(root).lay(charts(**{"config/config.yaml": json.dumps(config)}))
        assert len(world.generate().cells) == 2
        assert f"main/{'m/' * (len(dimensions) - 1)}x/values.yaml" in world.rendered()


# helm


def test_charts_without_helm(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = world.lay(charts()).generate()
    assert [item.code for item in done.report.added("warning")] == ["CMD-FLT-029"]
    with pytest.raises(EnvironmentFault) as caught:
        world.generate(need_helm=True)
    assert (caught.value.code, caught.value.exit_code) == ("CMD-FLT-055", 3)
    assert "commodore tool install helm" in caught.value.hint


def test_manifests_without_helm(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentFault) as caught:
        world.lay(manifests()).generate()
    assert caught.value.code == "CMD-FLT-055"


def counting_helm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A helm that writes a line for each `template`, and then does it."""
    real = subprocess.run(["sh", "-c", "command -v helm"], capture_output=True, text=True, check=True).stdout.strip()
    write_script(folder / "helm", f'[ "$1" = template ] && echo x >> {folder}/calls\nexec {real} "$@"')
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (folder / "calls").touch()
    return folder / "calls"


@pytest.mark.requirement("FP16")
def test_unchanged_cells_need_no_process(
    world: World, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counting_helm(tmp_path_factory.mktemp("bin"), monkeypatch)
    world.lay(manifests())

    def run() -> int:
        calls.write_text("")
        generate(world.workspace, GenerateOptions(processes=2), world.context)
        return len(calls.read_text().splitlines())

    assert run() == len(CELLS)  # nothing is left for a second pass
    first = world.rendered()
    assert run() == 0
    world.lay({f"{APP}/prod/override.yaml": patch("project: p")})
    assert run() == 3
    assert world.rendered() != first
    world.lay({f"{APP}/int/override.yaml": patch("project: '{{ randAlpha 5 }}'")})
    assert (run(), run()) == (6, 6)  # two passes, and never kept


def test_a_chart_that_ends_helm(
    world: World, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("bin")
    write_script(folder / "helm", "echo 'Error: broken \x1b[31mred' >&2\nexit 1")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    errors = world.lay(manifests()).refused()
    assert {error.code for error in errors} == {"CMD-FLT-056"}
    assert all("\x1b" not in error.message for error in errors)


def test_lists_of_patches_and_definitions_do_not_reach_the_output(world: World) -> None:
    world.lay(charts(**{f"{APP}/patches/p.yaml": patch("project: p"), f"{APP}/values.yaml": WEB})).generate()
    assert not [path for path in world.rendered() if "patch" in path]
