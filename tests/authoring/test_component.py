"""`component compile`, from the command line to the manifests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.authoring.fake_cluster import link_values
from tests.world.cluster import ClusterWorld
from tests.world.program import Result, run_here
from tests.world.repos import Content, GitWorld, git

MAIN = """
local inventory = (import 'lib/kapitan.libjsonnet').inventory();
local argocd = import 'lib/argocd.libjsonnet';
{
  out: inventory.parameters.my_app {
    instance: inventory.parameters._instance,
    cluster: inventory.parameters.cluster.name,
    distribution: inventory.parameters.facts.distribution,
    stub: argocd.App('a', 'b'),
  },
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A component outside of a git repository."""
    folder = tmp_path / "component-my-app"
    write(folder, ClusterWorld.component_files("my-app", {"a": "1"}))
    write(folder, {"component/main.jsonnet": MAIN})
    return folder


def write(folder: Path, files: dict[str, Content]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text), encoding="utf-8")


def compile_(*arguments: str, cwd: Path) -> Result:
    return run_here(["--log-format", "json", "component", "compile", *arguments], cwd)


def out(folder: Path, instance: str = "my-app") -> Any:
    path = folder / "compiled" / instance / instance / "out.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_a_component_alone(folder: Path, tmp_path: Path) -> None:
    """Its name comes from the folder, facts are made up; nothing is written but the output."""
    before = sorted(folder.rglob("*"))
    result = compile_(str(folder), cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert out(tmp_path) == {
        "data": {"a": "1"},
        "instance": "my-app",
        "cluster": "c-green-test-1234",
        "distribution": "test-distribution",
        "stub": {},
    }
    assert sorted(folder.rglob("*")) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compiled", "component-my-app"]


def test_values_alias_name_and_output(folder: Path, tmp_path: Path) -> None:
    """Later values win over earlier ones and over the component; a former output is replaced as a whole."""
    moved = folder.rename(tmp_path / "other-name")
    write(moved, ClusterWorld.component_files("my-app", {"a": "1"}, {"multi_instance": True}))
    write(moved, {"component/main.jsonnet": MAIN})
    values = {"one.yml": {"my_app": {"data": {"a": "2", "b": "2"}}}, "two.yaml": {"green": {"data": {"b": "3"}}}}
    for name, parameters in values.items():
        (tmp_path / name).write_text(yaml.safe_dump({"parameters": parameters}))
    stale = tmp_path / "to" / "compiled" / "green" / "stale.yaml"
    stale.parent.mkdir(parents=True)
    stale.touch()
    words = ["-n", "my-app", "-a", "green", "-f", "one.yml", "-f", "two.yaml", "-o", "to", "-r", "ignored"]
    result = compile_(str(moved), *words, cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert out(tmp_path / "to", "green")["data"] == {"a": "2", "b": "3"}
    assert result.warnings == ["CMD-CLI-010"]
    assert not stale.exists()


def test_references_are_revealed_with_made_up_values(folder: Path, tmp_path: Path) -> None:
    """No Vault is asked, and no catalog is there."""
    write(folder, ClusterWorld.component_files("my-app", secret="?{vaultkv:a/b/key}"))
    write(folder, {"component/main.jsonnet": MAIN})
    result = compile_(str(folder), cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert out(tmp_path)["secret"] == "a/b/key"


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("input_type: jsonet", 7),
        ("input_type: jsonnet\n        output_type: yamll", 8),
        ("input_type: jsonnet\n        typo: 1", 8),
        ("input_type: copy", 5),
    ],
)
def test_a_wrong_compile_entry_is_named_by_its_line(folder: Path, tmp_path: Path, field: str, line: int) -> None:
    entry = f"      - input_paths: [nothing]\n        output_path: .\n        {field}\n"
    write(folder, {"class/my-app.yml": f"parameters:\n  kapitan:\n    compile:\n\n{entry}"})
    result = compile_(str(folder), cwd=tmp_path)
    place = result.error["locations"][0]
    assert (place["place"], place["line"]) == (str(folder.resolve() / "class" / "my-app.yml"), line)


@pytest.mark.requirement("C45", "C46")
def test_libraries_of_a_component(folder: Path, tmp_path: Path) -> None:
    """Its jsonnetfile, further search paths, and its own libraries; its folder stays clean."""
    world = GitWorld(tmp_path / "remotes")
    library = world.remote("library", {"main.libsonnet": "{ name: 'library' }"})
    dependency = {"source": {"git": {"remote": library.url, "subdir": ""}}, "version": "master"}
    write(
        folder,
        {
            "jsonnetfile.jsonnet": json.dumps({"version": 1, "dependencies": [dependency], "legacyImports": True}),
            "lib/my-app.libsonnet": "'own'",
            "component/main.jsonnet": "{ out: { a: import 'library/main.libsonnet', b: import 'extra.libsonnet',"
            " c: import 'lib/my-app.libsonnet' } }",
        },
    )
    write(tmp_path / "search", {"extra.libsonnet": "'extra'"})
    git(folder, "init", "--quiet")
    result = compile_(str(folder), "-J", "search", cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert out(tmp_path) == {"a": {"name": "library"}, "b": "extra", "c": "own"}
    assert not (folder / "vendor").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["-n", "other"], "CMD-AUT-001"),
        (["-f", "values.txt"], "CMD-AUT-002"),
        (["-f", "values.yml", "-f", "more/values.yml"], "CMD-AUT-003"),
        (["-a", "second"], "CMD-DEP-023"),
        (["-n", "../x"], "CMD-NAME-001"),
        (["-a", "a.b"], "CMD-NAME-003"),
        (["-f", "removed.yml"], "CMD-INV-008"),
    ],
)
def test_what_is_refused(folder: Path, tmp_path: Path, words: list[str], code: str) -> None:
    write(
        tmp_path,
        {
            "values.txt": "",
            "values.yml": "",
            "more/values.yml": "",
            "removed.yml": "parameters: {a: '${customer:name}'}\n",
        },
    )
    result = compile_(str(folder), *words, cwd=tmp_path)
    assert (result.code, result.error["code"]) == (1, code), result.stderr
    assert not (tmp_path / "compiled").exists()


def test_link_values_takes_one_file_twice(tmp_path: Path) -> None:
    """It is one class; two files of one name would be one class, too."""
    values = tmp_path / "values.yml"
    values.write_text("")
    assert link_values(tmp_path / "classes", [values, tmp_path / "." / "values.yml"]) == ["values"]


def test_errors_name_the_files_of_the_author(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes are read through links in a folder that has gone when the error is read."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    values = tmp_path / "values.yml"
    values.write_text("parameters: {my_app: {x: '${no:such}'}}")
    result = compile_(str(folder), "-f", str(values), cwd=tmp_path)
    assert result.code == 1
    assert str(values) in result.stderr
    assert str(temporary) not in result.stderr


def test_a_failure_keeps_the_former_output(folder: Path, tmp_path: Path) -> None:
    assert compile_(str(folder), cwd=tmp_path).code == 0
    before = out(tmp_path)
    write(folder, {"component/main.jsonnet": "{ out: error 'no' }"})
    result = compile_(str(folder), cwd=tmp_path)
    assert (result.code, result.error["code"]) == (1, "CMD-ENG-015")
    assert out(tmp_path) == before
