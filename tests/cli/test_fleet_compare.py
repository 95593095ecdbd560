"""`commodore fleet diff`, `drift` and `import`, as typed by users."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shown
from tests.fleet.conftest import APP, charts, patch
from tests.world.folders import write_files

Call = Callable[..., Shown]


@pytest.fixture
def fleet(call: Call, tmp_path: Path) -> Call:
    """Run a command of `fleet` in a generated fleet that is committed."""
    write_files(tmp_path, charts())
    call("-d", str(tmp_path), "fleet", "generate")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    return lambda *words: call("-d", str(tmp_path), "fleet", *words)


def test_diff(fleet: Call, tmp_path: Path) -> None:
    assert fleet("diff")[:2] == (0, "6 cells: no file changed\n")
    write_files(tmp_path, {f"{APP}/prod/values.yaml": patch("project: p")})
    fleet("generate")
    code, out, _ = fleet("diff")
    assert code == 0
    assert out.splitlines()[0].startswith("modified values.yaml in 3 of 6 cells (main/prod/prod-1/r1, ")
    assert "  +    project: p" in out
    assert out.splitlines()[-1] == "6 cells: 3 files changed"
    loads = json.loads(fleet("diff", "HEAD", "-o", "json")[1])
    assert (loads["cells"], len(loads["changes"]), len(loads["groups"][0]["cells"])) == (6, 3, 3)
    for words, error in ((("nothing",), "CMD-FLT-097"), (("HEAD", "HEAD", "HEAD"), "CMD-FLT-092")):
        code, _, err = fleet("diff", *words)
        assert (code, error in err) == (2, True)


def test_drift(fleet: Call, tmp_path: Path) -> None:
    assert fleet("drift")[0] == 2
    status = tmp_path / "status.json"
    good = {"web": {"revision": "v4.17.0"}, "db": {"revision": "v1.13.3"}}
    status.write_text(json.dumps({"cells": {"main/int/int-1/r1": good}}))
    code, out, _ = fleet("drift", "--status", str(status))
    assert code == 0
    assert out.splitlines() == [
        "nothing is known of 5 cells, such as main/int/int-1/r2",
        "1 cell: what is deployed is what was generated",
    ]
    status.write_text(json.dumps({"cells": {"main/int/int-1/r1": {"web": {"revision": "v4.16.0"}}}}))
    code, out, _ = fleet("drift", "--status", str(status))
    assert code == 1
    assert out.splitlines()[:2] == [
        "missing  db in 1 of 1 cells (main/int/int-1/r1)",
        "revision web is v4.16.0, not v4.17.0, in 1 of 1 cells (main/int/int-1/r1)",
    ]
    code, out, _ = fleet("drift", "--status", str(status), "-o", "json")
    assert code == 1
    assert [load["kind"] for load in json.loads(out)["found"]] == ["missing", "revision"]


@pytest.mark.requirement("F57")
@pytest.mark.parametrize("command", [["drift"], ["status"], ["promote", "--auto", "--all"]])
def test_the_state_of_a_cell_that_does_not_exist(fleet: Call, tmp_path: Path, command: list[str]) -> None:
    """A misspelt cell would leave the real one unknown."""
    (tmp_path / "apps.json").write_text(json.dumps({"items": []}))
    code, out, err = fleet(*command, "--status", f"main/int/int-1/r3={tmp_path / 'apps.json'}")
    assert (code, out) == (2, "")
    assert "there is no cell 'main/int/int-1/r3' in this fleet [CMD-FLT-090]" in err
    assert "did you mean 'main/int/int-1/r" in err


def test_import(fleet: Call, tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\n"
        "spec: {project: default, source: {repoURL: https://x, path: p}, destination: {name: in-cluster}}\n"
    )
    code, out, _ = fleet("import", "main", str(file), "--dry-run")
    assert (code, out.splitlines()[0]) == (0, "config/main/shop/values.yaml would be written")
    assert not (tmp_path / "config/main/shop").exists()
    code, out, _ = fleet("import", "main", str(file), "-o", "json")
    loads = json.loads(out)
    assert (loads["files"], loads["applications"]) == (["config/main/shop/values.yaml"], {"shop": ["shop"]})
    assert fleet("validate")[0] == 0
    assert fleet("import", "main", str(file))[0] == 1
