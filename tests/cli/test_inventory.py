"""`inventory show`, `components` and `packages`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Shown
from tests.core.inventory.hierarchies import cluster
from tests.world import completion
from tests.world.cluster import ROOT
from tests.world.terminal import run_on_terminal

Call = Callable[..., Shown]

COMMODORE = """
classes: ['global.cloud.${facts:cloud}', '${cluster:tenant}.${cluster:name}']
parameters:
  components:
    nfs: {url: https://git.example.com/nfs.git, version: v1.0.0}
  argocd:
    images: [{name: argocd, tag: v1}]
    labels: {example.com/team: "yes", text: "one\\ntwo\\n", umlaut: ü}
"""

SHOWN = r"""_instance: global
_reclass_:
  environment: base
  name:
    full: global
    parts:
    - global
    path: global
    short: global
argocd:
  images:
  - name: argocd
    tag: v1
  labels:
    example.com/team: 'yes'
    text: 'one

      two

      '
    umlaut: "\xFC"
cluster:
  catalog_url: not-a-real-repo
  display_name: Foo Inc. Bar cluster
  name: c-bar
  tenant: t-foo
  tenant_display_name: Foo Inc.
components:
  nfs:
    url: https://git.example.com/nfs.git
    version: v1.0.0
dynamic_facts: {}
facts:
  cloud: x-fake-cloud
  distribution: x-fake-distribution
  lieutenant-instance: lieutenant-prod
  region: x-fake-region

"""

IGNORED = "ignore missing class global.cloud.x-fake-cloud\n"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path) -> None:
    """A folder `g` with global defaults, `t` with a tenant's configuration, and a values file `v.yml`."""
    for name in ("g/cloud", "t"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "g" / "commodore.yml").write_text(COMMODORE)
    (tmp_path / "g" / "cloud" / "one.yml").write_text("parameters: {packages: {p: {version: v1}}}")
    (tmp_path / "t" / "c-one.yml").write_text("parameters: {tenant: true}")
    (tmp_path / "v.yml").write_text("parameters: {cluster: {name: c-one}, facts: {cloud: one}}")


@pytest.fixture
def compiled(tmp_path: Path) -> str:
    """A working directory in which a cluster was compiled."""
    folder = tmp_path / "work"
    cluster(folder, {"nfs": "nfs", "nfs-two": "nfs"}, {"nfs": {"nfs": {"size": 1}}}, {"nfs_two": {"size": 2}})
    return str(folder)


def test_all_parameters_as_the_published_tool_shows_them(call: Call) -> None:
    """Lists flush with their key, texts in quotes, ASCII, and an empty line at the end."""
    assert call("inventory", "show", "g") == (0, SHOWN, IGNORED)


def test_as_json(call: Call) -> None:
    """In one line, and in the order of the hierarchy."""
    code, shown, _ = call("inventory", "show", "g", "-o", "json")
    assert (code, shown.count("\n")) == (0, 1)
    assert json.loads(shown) == yaml.safe_load(SHOWN)
    assert next(iter(json.loads(shown))) == "_reclass_"
    assert list(json.loads(shown))[-1] == "_instance"
    assert '"umlaut": "\\u00fc"' in shown


def test_components_and_packages(call: Call) -> None:
    shown = "nfs:\n  url: https://git.example.com/nfs.git\n  version: v1.0.0\n\n"
    assert call("inventory", "components", "g") == (0, shown, IGNORED)
    assert call("inventory", "components", "g", "") == (0, shown, IGNORED)  # an unset variable of a script
    assert call("inventory", "components", "g", "-o", "json")[1].startswith('{"nfs": {"url": ')
    assert call("inventory", "packages", "g") == (0, "{}\n\n", IGNORED)
    assert call("inventory", "packages", "g", "t", "-f", "v.yml") == (0, "p:\n  version: v1\n\n", "")


def test_missing_classes_may_be_refused(call: Call) -> None:
    assert call("inventory", "show", "g", "t", "-A", "-f", "v.yml")[0] == 0
    code, shown, said = call("inventory", "packages", "g", "-A")
    assert (code, shown) == (1, "")
    missing = "class 'global.cloud.x-fake-cloud' is included but does not exist (while rendering target 'global')"
    assert said == f"error: {missing} [CMD-INV-002]\n  hint: did you mean 'global.cloud.one'?\n"


def test_only_results_on_standard_output(call: Call) -> None:
    """Not with -vvv either, and nothing else at all with --quiet."""
    for words in (["-v"], ["-vvv"]):
        assert json.loads(call("inventory", "show", "g", *words, "-o", "json")[1])["_instance"] == "global"
    assert call("-q", "inventory", "components", "g", "-o", "json")[2] == ""
    said = call("--log-format", "json", "inventory", "show", "g")[2]
    assert [json.loads(line)["message"] for line in said.splitlines()] == [IGNORED.strip()]


def test_one_parameter(call: Call) -> None:
    def shown(path: str, *words: str) -> str:
        code, shown, _ = call("inventory", "show", "g", "--path", path, *words)
        assert code == 0
        return shown

    assert shown("argocd.images") == "- name: argocd\n  tag: v1\n"
    assert shown("argocd.images[0].tag") == "v1\n"
    assert shown('argocd.labels."example.com/team"') == "'yes'\n"
    assert shown('argocd.labels."example.com/team"', "-o", "text") == "yes\n"
    assert shown("argocd.labels.text", "-o", "text") == "one\ntwo\n"
    assert shown("argocd.labels.text", "-o", "json") == '"one\\ntwo\\n"\n'
    assert shown("argocd.images", "-o", "text") == "- name: argocd\n  tag: v1\n"
    assert shown("dynamic_facts", "-o", "text") == "{}\n"


def test_a_misspelt_parameter(call: Call) -> None:
    code, shown, said = call("-q", "inventory", "show", "g", "--path", "argocd.image")
    assert (code, shown) == (1, "")
    assert said == "error: parameter argocd has no key 'image' [CMD-INV-041]\n  hint: did you mean 'images'?\n"
    assert call("inventory", "show", "g", "--path", "argocd.")[0] == 2


def test_the_defaults_of_a_component(call: Call, tmp_path: Path) -> None:
    """With what the hierarchy makes of them."""
    folder = tmp_path / "component-argocd" / "class"
    folder.mkdir(parents=True)
    (folder / "argocd.yml").write_text("")
    (folder / "defaults.yml").write_text("parameters: {argocd: {namespace: syn, images: [{name: redis}]}}")
    words = ["inventory", "show", "g", "--component", "component-argocd", "--path", "argocd", "-o", "json"]
    shown = json.loads(call(*words)[1])
    assert (shown["namespace"], [image["name"] for image in shown["images"]]) == ("syn", ["redis", "argocd"])


def test_what_was_compiled(call: Call, compiled: str) -> None:
    assert call("-d", compiled, "inventory", "show", "--path", "nfs_two") == (0, "size: 2\n", "")
    words = ["-d", compiled, "inventory", "show", "--instance"]
    assert call(*words, "nfs-two", "--path", "nfs.size") == (0, "2\n", "")
    assert call(*words, "cluster", "--path", "_instance") == (0, "cluster\n", "")
    assert call("-d", compiled, "inventory", "packages") == (0, "{}\n\n", "")
    code, _, said = call(*words, "nfs-tow")
    assert code == 1
    assert "has no instance 'nfs-tow' [CMD-INV-047]" in said
    assert "did you mean 'nfs-two'" in said
    assert call("inventory", "show")[2].startswith("error: no cluster has been compiled in ")


def test_how_the_clusters_of_values_files_differ(call: Call, tmp_path: Path) -> None:
    """Equal or different: the answer is not a failure."""
    (tmp_path / "w.yml").write_text("parameters: {facts: {cloud: one, region: r}, extra: [1]}")
    assert call("-q", "inventory", "show", "g", "t", "-f", "v.yml", "--diff-values", "v.yml", "-f", "w.yml")[0] == 0
    words = ["inventory", "show", "g", "-f", "v.yml", "--diff-values", "w.yml"]
    shown = [
        *["--- v.yml", "+++ w.yml"],
        *["@@ cluster.name @@", "-c-one", "+c-bar"],
        *["@@ extra added @@", "+- 1"],
        *["@@ facts.region @@", "-x-fake-region", "+r"],
    ]
    code, text, said = call(*words)
    assert (code, text.splitlines(), said) == (0, shown, "3 parameters differ: 1 added, 2 changed\n")
    load = json.loads(call(*words, "-o", "json")[1])["differences"]
    assert load[1] == {
        "path": "extra",
        "change": "added",
        "right": [1],
    }
    assert yaml.safe_load(call(*words, "-o", "yaml")[1])["differences"][0]["right"] == "c-bar"
    assert call(*words, "--path", "facts")[1] == "--- v.yml\n+++ w.yml\n@@ facts.region @@\n-x-fake-region\n+r\n"
    assert call("inventory", "show", "g", "-f", "v.yml", "--diff-values", "v.yml") == (0, "", "No parameters differ\n")
    same = call("-q", "inventory", "show", "g", "-f", "v.yml", "--diff-values", "v.yml", "-o", "json")[1]
    assert json.loads(same)["differences"] == []
    assert call(*words, "--path", "extr")[0] == 1


def test_how_compiled_clusters_differ(call: Call, compiled: str, tmp_path: Path) -> None:
    """Anything that only tells where and as what they were rendered is left out."""
    cluster(tmp_path / "other", {"nfs": "nfs"}, {"nfs": {"nfs": {"size": 3}}}, {"more": "${_instance}"})
    words = ["-d", compiled, "inventory", "show", "--diff-dir", "other", "-o", "json"]
    assert json.loads(call(*words)[1])["differences"] == [
        {"path": "more", "change": "added", "right": "cluster"},
        {"path": "nfs.size", "change": "changed", "left": 1, "right": 3},
        {"path": "nfs_two", "change": "removed", "left": {"size": 2}},
    ]
    shown = json.loads(call(*words, "--instance", "nfs")[1])["differences"]
    assert [item["path"] for item in shown] == ["more", "nfs.size", "nfs_two"]
    assert call(*words, "--instance", "nfs-two")[0] == 1
    assert json.loads(call("inventory", "show", "g", "--diff-dir", compiled, "-o", "json")[1])["differences"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nope"], "CMD-CLI-002", "Directory 'nope' does not exist"),
        (["g", "v.yml"], "CMD-CLI-002", "Directory 'v.yml' is a file"),
        (["g", "t", "more"], "CMD-CLI-002", "unexpected extra argument (more)"),
        (["g", "-f", "nope.yml"], "CMD-CLI-002", "File 'nope.yml' does not exist"),
        (["g", "-f", "t"], "CMD-CLI-002", "File 't' is a directory"),
        (["g", "-o", "toml"], "CMD-CLI-002", "'toml' is not one of 'json', 'text', 'yaml'"),
        (["-f", "v.yml"], "CMD-CLI-040", "--values needs GLOBAL_CONFIG"),
        (["--component", "t"], "CMD-CLI-040", "--component needs GLOBAL_CONFIG"),
        (["--diff-values", "v.yml"], "CMD-CLI-040", "--diff-values needs GLOBAL_CONFIG"),
        (["g", "--instance", "x"], "CMD-CLI-041", "--instance cannot be used with GLOBAL_CONFIG"),
        (["g", "--diff-values", "v.yml", "--diff-dir", "t"], "CMD-CLI-042", "--diff-values and --diff-dir cannot"),
        (["g", "--path", "a..b"], "CMD-INV-040", "'a..b' is not a valid path of a parameter"),
    ],
)
def test_wrong_usage(call: Call, words: list[str], code: str, message: str) -> None:
    """Exit code 2, and nothing on standard output; for a missing folder the published tool ends with a traceback."""
    ended, shown, said = call("inventory", "show", *words)
    assert (ended, shown) == (2, "")
    assert message in said
    assert f"[{code}]" in said


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "commodore", "inventory", "show", "g", "--diff-values", "v.yml", "--path", "facts"]
    piped = subprocess.run(words, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}).stdout
    code, seen = run_on_terminal(words, {**os.environ, "PYTHONPATH": str(ROOT)}, streams=["stdout"])
    assert piped.splitlines()[-1] == b"+one"
    assert (code, seen.splitlines()[-1]) == (0, "\x1b[32m+one\x1b[0m")


def test_text_from_outside_cannot_steer_the_terminal(call: Call, tmp_path: Path) -> None:
    (tmp_path / "w.yml").write_text('parameters: {cluster: {name: "c\\e[31m"}, "k\\e[2J": "\\e[31m\\n\\e"}')
    words = ["inventory", "show", "g", "-f", "w.yml"]
    for more in ([], ["-o", "json"], ["--path", "cluster.name", "-o", "text"], ["--diff-values", "v.yml"]):
        assert "\x1b" not in "".join(call(*words, *more)[1:])


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("--path nf", ["nfs", "nfs.", "nfs_two", "nfs_two."]),
        ("--instance nfs-two --path nfs.s", ["nfs.size"]),
        ("--path 'x", []),
        ("g --path clu", []),
        ("-f v.yml g --path clu", []),
    ],
)
def test_the_shell_completes_parameters_of_what_was_compiled(compiled: str, words: str, offered: list[str]) -> None:
    """And none for a fake cluster, which would be another one."""
    assert completion.offered(completion.complete(f"commodore -d {compiled} inventory show {words}")) == offered


@pytest.mark.peer
@pytest.mark.parametrize(
    "words",
    [
        ["show", "g"],
        ["show", "g", "t", "-f", "v.yml"],
        ["show", "g", "t", "-f", "v.yml", "-A", "-o", "json"],
        ["components", "g", "t"],
        ["packages", "g", "t", "-f", "v.yml", "-o", "json"],
        ["packages", "g", "-A"],
    ],
    ids=" ".join,
)
def test_bytes_equal_those_of_the_published_tool(call: Call, peer: Path, words: list[str]) -> None:
    done = subprocess.run([peer, "inventory", *words], capture_output=True, text=True, check=False, env=os.environ)
    code, shown, _ = call("inventory", *words)
    assert (code, shown) == (done.returncode, done.stdout)
