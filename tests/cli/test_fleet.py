"""`commodore fleet`, as typed by users."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.cli.conftest import Shown
from tests.fleet.conftest import APP, CONFIG, WEB, charts, patch
from tests.world.folders import write_files
from tests.world.repos import git

Call = Callable[..., Shown]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def fleet(call: Call, tmp_path: Path) -> Call:
    """Run a command of `fleet` in the temporary folder."""
    return lambda *words: call("-d", str(tmp_path), "fleet", *words)


@pytest.mark.requirement("F47", "F50", "F53")
def test_generate_and_its_dry_run(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, charts())
    assert fleet("generate", "--dry-run", "--validate")[0] == 1
    assert not (tmp_path / "rendered").exists()
    assert fleet("generate")[:2] == (0, "6 cells, 30 files: 30 files changed\n")
    assert fleet("generate", "--dry-run", "--validate")[:2] == (0, "6 cells, 30 files: unchanged\n")
    write_files(tmp_path, {f"{APP}/prod/values.yaml": patch("project: p")})
    code, out, _ = fleet("generate", "--dry-run")
    assert code == 0
    assert out.splitlines()[0] == (
        "modified values.yaml in 3 of 6 cells (main/prod/prod-1/r1, main/prod/prod-2/eu, main/prod/prod-2/r1)"
    )
    assert "  -    project: default" in out
    assert "  +    project: p" in out
    code, _, err = fleet("generate", "--dry-run", "--validate")
    assert code == 1
    assert "rendered/ is stale: 3 files (3 modified: main/prod/prod-1/r1/values.yaml, " in err
    assert "[CMD-FLT-060]" in err


def test_json(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, charts(**{f"{APP}/patches/p.yaml": patch("project: p"), f"{APP}/prodd/values.yaml": "{}"}))
    loads = json.loads(fleet("generate", "-o", "json", "--dry-run")[1])
    assert (loads["cells"], loads["files"], len(loads["changes"])) == (6, 30, 30)
    assert [load["code"] for load in loads["warnings"] + loads["notes"]] == ["CMD-FLT-020", "CMD-FLT-042"]
    code, out, _ = fleet("validate", "-o", "json")
    assert (code, json.loads(out)["errors"]) == (0, [])
    code, out, _ = fleet("validate")
    assert (code, out) == (0, "6 cells, no errors, 1 warning\n")
    assert fleet("validate", "--strict")[0] == 1
    assert not (tmp_path / "rendered").exists()


@pytest.mark.requirement("F48", "F49")
def test_choosing_cells(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, charts())
    fleet("generate", "--environment", "int", "--sector", "int-1", "--at", "regions=r2")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.glob("rendered/*/*/*/*")] == [
        "rendered/main/int/int-1/r2"
    ]


@pytest.mark.requirement("F52")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--environment", "prot"),
            "there is no environment 'prot' in this fleet [CMD-FLT-090]\n  hint: did you mean 'prod'?",
        ),
        (("--cluster-type", "x"), "there are main"),
        (("--at", "zones=x"), "there is no dimension 'zones'"),
        (("--at", "zones"), "--at 'zones' is not DIMENSION=NAME [CMD-FLT-092]"),
    ],
)
def test_unknown_names(fleet: Call, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    write_files(tmp_path, charts())
    code, _, err = fleet("generate", *words)
    assert code == 2
    assert said in err


def test_a_dimension_that_the_fleet_does_not_have(fleet: Call, tmp_path: Path) -> None:
    config = "dimensions: [stages]\nsequence: {stages: [a]}\ncluster_types: [main]\n"
    write_files(tmp_path, charts(**{"config/config.yaml": config}))
    code, _, err = fleet("generate", "--region", "r1")
    assert (code, "there is no dimension 'regions'" in err) == (2, True)


def test_a_dimension_whose_name_is_no_word_of_go_templates(
    fleet: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMODORE_FLEET_TEMPLATE_ENGINE", "go")
    config = "dimensions: [data-centers]\nsequence: {data-centers: [a]}\ncluster_types: [main]\n"
    write_files(tmp_path, charts(**{"config/config.yaml": config}))
    made = yaml.safe_load(fleet("applicationset", "main")[1])
    value = '{{index .values "data-center"}}'
    source = made["spec"]["template"]["spec"]["source"]
    assert (source["path"], source["helm"]["valuesObject"]["cluster"]["data-center"]) == (
        f"rendered/main/{value}",
        value,
    )
    assert fleet("validate")[:2] == (0, "1 cell, no errors, no warnings\n")


@pytest.mark.requirement("F54", "F55")
@pytest.mark.parametrize(
    ("engine", "name", "label", "value"),
    [
        ("fast", "{{name}}", "{{metadata.labels.x-region}}", "{{values.region}}"),
        ("go", "{{.name}}", '{{index .metadata.labels "x-region"}}', "{{.values.region}}"),
    ],
)
def test_applicationset(
    fleet: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, name: str, label: str, value: str
) -> None:
    set_variables = {"TEMPLATE_ENGINE": engine, "CLUSTER_VALUE": "id=projectId", "PROJECT": "p"}
    for variable, text in set_variables.items():
        monkeypatch.setenv(f"COMMODORE_FLEET_APPLICATIONSET_{variable}", text)
    write_files(tmp_path, charts())
    options = ("--label-prefix", "x-", "--repo-url", "https://git", "--revision", "v1")
    code, out, _ = fleet("applicationset", "main", *options)
    made = yaml.safe_load(out)
    spec = made["spec"]
    assert (code, made["metadata"], spec.get("goTemplate", False)) == (
        0,
        {"name": "main-apps", "namespace": "argocd"},
        engine == "go",
    )
    clusters = spec["generators"][0]["clusters"]
    assert clusters["selector"] == {"matchLabels": {"x-cluster-type": "main"}}
    assert clusters["values"]["region"] == label
    source = spec["template"]["spec"]["source"]
    assert source["path"].endswith(f"/{value}")
    assert source["path"].startswith("rendered/main/")
    assert source["helm"]["valuesObject"]["cluster"] == {
        "name": name,
        **{item: value.replace("region", item) for item in ("environment", "sector", "region")},
        "id": label.replace("x-region", "x-projectId"),
    }
    assert spec["template"]["spec"]["syncPolicy"] == {"automated": {"prune": True, "selfHeal": True}}
    assert json.loads(fleet("applicationset", "main", *options, "-o", "json")[1])["kind"]
    assert fleet("applicationset", "mein")[0] == 2


def test_preview(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, charts(**{f"{APP}/int/values.yaml": patch("project: '{{ .Values.cluster.name }}'")}))
    (tmp_path / "cluster.yaml").write_text("cluster: {name: c-1}")
    code, out, _ = fleet("preview", "int/int-1/r1", "--values", str(tmp_path / "cluster.yaml"))
    assert code == 0
    assert {item["spec"]["project"] for item in yaml.safe_load_all(out)} == {"default", "c-1"}
    made_up = json.loads(fleet("preview", "main/int/int-1/r1", "-o", "json")[1])
    assert {item["spec"]["project"] for item in made_up} == {"default", "sample-name"}
    assert fleet("preview", "int/int-1")[0] == 2
    (tmp_path / "cluster.yaml").write_text("- x")
    code, _, err = fleet("preview", "int/int-1/r1", "--values", str(tmp_path / "cluster.yaml"))
    assert (code, "[CMD-FLT-095]" in err) == (1, True)
    write_files(tmp_path, {"config/config.yaml": CONFIG + "  - other\n", "config/other/web/values.yaml": "{}"})
    code, _, err = fleet("preview", "int/int-1/r1")
    assert (code, "[CMD-FLT-094]" in err) == (2, True)


def test_a_preview_keeps_texts(fleet: Call, tmp_path: Path) -> None:
    """They can be piped to kubectl, which reads some texts without quotes as numbers or booleans."""
    texts = ["08", "1234e56", "1e3", "y", "0o17", "on"]
    write_files(tmp_path, charts(**{f"{APP}/int/values.yaml": patch(f"info: [{{name: a, value: {texts!r}}}]")}))
    code, out, _ = fleet("preview", "int/int-1/r1")
    assert (code, [text for text in texts if f"'{text}'" not in out]) == (0, [])


def test_a_preview_that_argo_cd_could_not_render(fleet: Call, tmp_path: Path) -> None:
    strict = '{{ required "a name is needed" .Values.cluster.name }}'
    write_files(tmp_path, charts(**{f"{APP}/int/values.yaml": patch(f"project: '{strict}'")}))
    (tmp_path / "cluster.yaml").write_text("{other: x}")
    code, _, err = fleet("preview", "int/int-1/r1", "--values", str(tmp_path / "cluster.yaml"))
    assert code == 1
    assert "a name is needed" in err
    assert "[CMD-FLT-093]" in err


@pytest.mark.parametrize("style", ["charts", "manifests"])
def test_init_makes_a_fleet_that_generates(fleet: Call, tmp_path: Path, style: str) -> None:
    code, out, _ = fleet("init", "--style", style)
    assert code == 0
    assert "config/config.yaml" in out.splitlines()
    assert fleet("generate")[0] == 0
    assert fleet("generate", "--dry-run", "--validate")[0] == 0
    assert len(list(tmp_path.glob("rendered/workload/*/*/values.yaml"))) == 5
    code, _, err = fleet("init")
    assert (code, "[CMD-FLT-096]" in err) == (4, True)


@pytest.mark.requirement("F58")
def test_schemas(fleet: Call, tmp_path: Path) -> None:
    names = fleet("schema")[1].split()
    assert names == json.loads(fleet("schema", "-o", "json")[1])["names"]
    write_files(tmp_path, charts())
    for name in names:
        schema = json.loads(fleet("schema", name)[1])
        Draft202012Validator.check_schema(schema)
    config = json.loads(fleet("schema", "config")[1])
    Draft202012Validator(config).validate(yaml.safe_load(CONFIG))
    assert not Draft202012Validator(config).is_valid({**yaml.safe_load(CONFIG), "x": 1})
    code, _, err = fleet("schema", "patches")
    assert (code, "did you mean 'patch'?" in err, "[CMD-FLT-091]" in err) == (2, True, True)


def test_the_shipped_example(call: Call, tmp_path: Path) -> None:
    """Its output lies next to it, and is what it makes."""
    code, out, err = call("-d", str(ROOT / "examples/fleet"), "fleet", "generate", "--dry-run", "--validate")
    assert (code, out) == (0, "5 cells, 25 files: unchanged\n"), err


@pytest.mark.parametrize("remove", ["folder", "override", "item"])
def test_an_application_does_not_disappear_unasked(fleet: Call, tmp_path: Path, remove: str) -> None:
    write_files(tmp_path, charts())
    fleet("generate")
    before = {path: path.read_bytes() for path in (tmp_path / "rendered").rglob("*.yaml")}
    if remove == "folder":
        shutil.rmtree(tmp_path / APP)
    elif remove == "override":
        write_files(tmp_path, {f"{APP}/prod/values.yaml": "applications: {web: null}\n"})
    else:
        write_files(tmp_path, {f"{APP}/values.yaml": WEB.replace("  web:", "  wbe:")})
    number = 3 if remove == "override" else 6
    said = f"Application web would be removed from {number} cells (main/"
    code, out, err = fleet("generate")
    assert (code, out, said in err, "[CMD-FLT-065]" in err) == (1, "", True, True)
    assert "if that is meant: --allow-removal web" in err
    code, out, err = fleet("generate", "--dry-run")
    assert (code, f"Application web would be removed from {number} of 6 cells" in out, said in err) == (1, True, True)
    code, out, _ = fleet("generate", "--dry-run", "-o", "json")
    loads = json.loads(out)
    assert (code, loads["objects"][0]["name"], loads["errors"][0]["code"]) == (1, "web", "CMD-FLT-065")
    code, _, err = fleet("generate", "--allow-removal", "wed")
    assert (code, "there is no Application 'wed' in this fleet [CMD-FLT-090]\n  hint: did you mean 'web'" in err) == (
        2,
        True,
    )
    assert {path: path.read_bytes() for path in (tmp_path / "rendered").rglob("*.yaml")} == before
    assert fleet("generate", "--dry-run", "--allow-removal", "main/web")[0] == 0
    code, out, _ = fleet("generate", "--allow-removal", "web")
    assert (code, f"Application web removed from {number} of 6 cells" in out) == (0, True)


def test_what_was_rendered_may_be_unknown(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, charts())
    fleet("generate")
    path = tmp_path / "rendered/main/int/int-1/r1/values.yaml"
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}=======\n>>>>>>> other\n")
    code, out, err = fleet("generate")
    assert (code, out) == (1, "")
    assert (
        "the former Applications of 1 cell (main/int/int-1/r1) are unknown: values.yaml is not YAML [CMD-FLT-066]"
        in err
    )
    code, out, _ = fleet("generate", "--force")
    assert (code, "unknown: the Applications that 1 cell had" in out) == (0, True)


def test_json_has_the_errors(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, charts(**{f"{APP}/values.yaml": WEB.replace("applications", "aplications")}))
    for command in ("generate", "validate"):
        code, out, _ = fleet(command, "-o", "json")
        assert (code, [load["code"] for load in json.loads(out)["errors"]]) == (1, ["CMD-FLT-064"])


@pytest.mark.parametrize("field", ["destination", "project", "source"])
def test_own_templates_need_what_they_ask_for(fleet: Call, tmp_path: Path, field: str) -> None:
    """They may write a destination of their own."""
    fixed = "spec: {destination: {name: in-cluster}, project: p, source: {}}"
    head = "{{ range $name, $app := .Values.applications }}\nkind: Application\nmetadata: {name: {{ $name }}}\n"
    write_files(
        tmp_path,
        charts(
            **{"config/main/application-defaults.yaml": None, "templates/a.yaml": f"{head}{fixed}\n---\n{{{{ end }}}}"}
        ),
    )
    write_files(tmp_path, {f"{APP}/values.yaml": "applications: {web: {info: []}}\n"})
    assert fleet("generate")[0] == 0
    write_files(tmp_path, {"templates/a.yaml": f"{head}{fixed}\nread: {{{{ $app.{field} }}}}\n---\n{{{{ end }}}}"})
    code, _, err = fleet("generate")
    assert (code, f"web has no {field} in 6 cells" in err, "[CMD-FLT-017]" in err) == (1, True, True)


@pytest.mark.requirement("F53")
@pytest.mark.parametrize(
    ("name", "text"),
    [(".gitignore", "values.yaml\n"), (".gitattributes", "* text eol=crlf\n"), (".gitattributes", "* ident\n")],
)
def test_output_that_git_keeps_otherwise_is_stale(
    fleet: Call, call: Call, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, name: str, text: str
) -> None:
    """The check in CI compares what a checkout has, whatever files of the repository make git leave out or change."""
    write_files(tmp_path, charts(**{f"{APP}/int/values.yaml": patch("info: [{name: a, value: '$Id$'}]")}))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    write_files(tmp_path, {name: text})
    assert fleet("generate")[0] == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", str(tmp_path), ".")
    code, _, err = call("-d", str(clone), "fleet", "generate", "--dry-run", "--validate")
    assert (code, "[CMD-FLT-060]" in err) == (1, True)
