"""`inventory explain`: where parameters come from, for people, programs and shells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shown
from tests.core.inventory.hierarchies import cluster
from tests.world import completion

Call = Callable[..., Shown]


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """The working directory of a cluster that was compiled: two instances of a component, and another component."""
    folder = tmp_path / "work"
    cluster(
        folder,
        {"nfs": "nfs", "nfs-archive": "nfs", "other": "other"},
        {"nfs": {"nfs": {"path": None, "server": "${other:host}", "pool": ["a"]}}, "other": {"other": {"host": "h"}}},
        {"nfs": {"path": "/one"}, "nfs_archive": {"path": "/two", "~pool": ["b"]}, "other": {"key.with.dots": 1}},
    )
    return folder


@pytest.fixture
def explain(call: Call, compiled: Path) -> Call:
    def explain(*arguments: str) -> Shown:
        return call("-d", str(compiled), "inventory", "explain", *arguments)

    return explain


def test_for_people(explain: Call, compiled: Path) -> None:
    code, out, err = explain("nfs.path")
    assert (code, err) == (0, "")
    assert out == (
        "nfs.path in target nfs is /one\n"
        "  1. work/dependencies/nfs/class/defaults.yml:3 (sets it, overwritten later)\n"
        "     class defaults.nfs\n"
        "       path: null\n"
        "  2. work/inventory/classes/global/commodore.yml:3 (replaces it, wins)\n"
        "     class global.commodore\n"
        "       path: /one\n"
    )


def test_references_are_explained_below(explain: Call) -> None:
    code, out, _ = explain("nfs.server", "--instance", "nfs-archive")
    assert code == 0
    assert "       server: ${other:host}\n       ${other:host}:\n         other.host is h\n           1. " in out


def test_an_instance_is_its_components_parameters_and_its_own(explain: Call) -> None:
    """The pair in the target that merges them is called what it is, and is followed."""
    code, out, _ = explain("nfs.pool", "--instance", "nfs-archive")
    assert code == 0
    assert "nfs.pool in target nfs-archive is a list of 1 item:" in out
    assert "written by commodore for target 'nfs-archive' (replaces it, '~' discards the previous value, wins)" in out
    assert "     nfs as a whole:\n       nfs: ${nfs_archive}\n       ${nfs_archive}:\n" in out
    assert "         nfs_archive.pool is a list of 1 item:\n" in out
    assert out.endswith(
        "Where each item was set last:\n  [0]  work/inventory/classes/global/commodore.yml:7 through ${nfs_archive}\n"
    )


def test_the_target_is_chosen_by_the_path(explain: Call) -> None:
    for path, target in (("nfs_archive.path", "nfs-archive"), ("nfs.path", "nfs"), ("facts.cloud", "cluster")):
        assert f"{path} in target {target} is " in explain(path)[1]
    assert "nfs.path in target cluster is /one" in explain("nfs.path", "--instance", "cluster")[1]
    assert "the facts of the cluster (sets it, wins)" in explain("facts.cloud")[1]


def test_as_json(explain: Call, compiled: Path) -> None:
    code, out, err = explain("nfs.server", "-o", "json")
    loads = json.loads(out)
    assert (code, err) == (0, "")
    assert (loads["path"], loads["value"], loads["complete"]) == ("nfs.server", "h", True)
    (item,) = loads["chain"]
    assert (item["source"]["name"], item["source"]["line"], item["value"]) == ("defaults.nfs", 6, "${other:host}")
    assert item["source"]["file"] == str(compiled / "dependencies" / "nfs" / "class" / "defaults.yml")
    assert item["references"][0]["explanation"]["value"] == "h"


def test_a_misspelt_parameter(explain: Call) -> None:
    code, out, err = explain("nfs.pth")
    assert (code, out) == (1, "")
    assert err == "error: parameter nfs has no key 'pth' [CMD-INV-041]\n  hint: did you mean 'path'?\n"


def test_what_only_an_instance_has(explain: Call) -> None:
    """The cluster's target has no component classes; the hint says where to look."""
    code, _, err = explain("kapitan.vars")
    assert code == 1
    assert err.endswith("parameters that only an instance has: use --instance NAME\n")
    code, out, _ = explain("kapitan.vars.target", "--instance", "other")
    assert code == 0
    assert "written by commodore for target 'other'" in out


def test_what_is_no_path(explain: Call) -> None:
    code, _, err = explain("nfs..path")
    assert code == 2
    assert "CMD-INV-040" in err


def test_what_was_taken_away(explain: Call, compiled: Path) -> None:
    (compiled / "inventory" / "classes" / "global" / "commodore.yml").write_text("parameters:\n  ~nfs: {path: /x}\n")
    code, out, err = explain("nfs.server")
    assert (code, err) == (1, "")
    assert out.startswith("nfs.server in target nfs is not set; it was taken away:\n")
    assert "commodore.yml:2 (takes it away)" in out


def test_an_unknown_instance(explain: Call) -> None:
    code, _, err = explain("nfs", "--instance", "nfs-archiv")
    assert code == 1
    assert "CMD-INV-047" in err
    assert "nfs-archive" in err


def test_nothing_was_compiled(call: Call, tmp_path: Path) -> None:
    code, _, err = call("-d", str(tmp_path / "nowhere"), "inventory", "explain", "a")
    assert code == 1
    assert "CMD-INV-046" in err


def test_folders_of_configuration(call: Call, tmp_path: Path) -> None:
    """The users' own files are named, not those of the throw-away inventory."""
    for name, text in {"g/commodore.yml": "classes: ['${cluster:tenant}.${cluster:name}']\n", "t/c-1.yml": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}parameters:\n  a: {{b: {name[0]}}}\n")
    (tmp_path / "values.yml").write_text("parameters:\n  cluster: {tenant: t-1, name: c-1}\n  a: {b: v}\n")
    code, out, err = call("inventory", "explain", "a.b", "g", "t", "-f", "values.yml")
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines() if ". " in line[:6]]
    assert lines == [
        "1. values.yml:3 (sets it, overwritten later)",
        "2. t/c-1.yml:2 (replaces it, overwritten later)",
        "3. g/commodore.yml:3 (replaces it, wins)",
    ]
    code, out, _ = call("inventory", "explain", "cluster.display_name", "g")
    assert code == 0
    assert "1. the fake facts (class params.cluster) (sets it, wins)" in out


def test_a_chain_that_is_not_the_whole_truth(explain: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The self check is reported, and the value stays the rendered one."""
    monkeypatch.setattr("commodore.core.inventory.explain.explaining.agrees", lambda _: False)
    code, out, err = explain("nfs.path")
    assert code == 0
    assert "is /one" in out
    assert err.startswith("warning: the definitions listed for nfs.path do not add up to its value")
    assert "[CMD-INV-080]" in err


def test_control_characters_are_not_shown(explain: Call, compiled: Path) -> None:
    (compiled / "inventory" / "classes" / "global" / "commodore.yml").write_text(
        'parameters:\n  "k\\e[31m": "v\\e[31m"\n  m:\n    "k\\e[31m": 1\n'
    )
    for path in ("k\x1b[31m", "m"):
        _, out, err = explain(f'"{path}"')
        assert "\x1b" not in out + err


def offered(typed: str, folder: Path) -> list[str]:
    return completion.offered(completion.complete(f"commodore -d {folder} inventory explain {typed}"))


def test_parameters_are_completed_key_by_key(compiled: Path) -> None:
    """Of the last compile. A key that would need quotes is left out, and nothing is said without a compile."""
    assert offered("nfs", compiled) == ["nfs", "nfs.", "nfs_archive", "nfs_archive."]
    assert offered("nfs.p", compiled) == ["nfs.path", "nfs.pool"]
    assert offered("other.", compiled) == ["other.host"]
    assert offered("no.such", compiled) == []
    assert offered("nfs", compiled / "nowhere") == []
