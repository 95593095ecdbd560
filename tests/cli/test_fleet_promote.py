"""Promoting patches, as typed by users."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Shown
from tests.fleet.conftest import APP, charts, patch
from tests.world.folders import write_files

Call = Callable[..., Shown]
VERSION = patch("source: {targetRevision: v5.0.0}")


@pytest.fixture
def fleet(call: Call, tmp_path: Path) -> Call:
    """Run a command of `fleet` in the temporary folder, which has a patch in its first environment."""
    write_files(tmp_path, charts(**{f"{APP}/int/patch-001.yaml": VERSION}))
    return lambda *words: call("-d", str(tmp_path), "fleet", *words)


WEB = ("main", "web", "patch-001")


@pytest.mark.requirement("F56", "FP7")
def test_a_gate_needs_an_approval(fleet: Call, tmp_path: Path) -> None:
    code, _, err = fleet("promote", *WEB)
    assert code == 4
    assert "prod is entered by hand (config/config.yaml:10:7) [CMD-FLT-073]" in err
    code, out, _ = fleet("promote", *WEB, "--approve")
    assert code == 0
    assert out.splitlines() == [
        "main/web/patch-001 goes to prod/prod-1/r1",
        "  prod/prod-1 stands for prod/prod-1/r1",
        "6 cells, 30 files: 30 files changed",
    ]
    assert (tmp_path / APP / "prod/prod-1/patch-001.yaml").read_text() == VERSION


@pytest.mark.requirement("F56")
def test_auto_waits_at_a_gate(fleet: Call, tmp_path: Path) -> None:
    assert fleet("promote", *WEB, "--auto")[:2] == (0, "main/web/patch-001 waits: prod is entered by hand\n")
    write_files(tmp_path, {"config/main/db/int/int-1/r1/p.yaml": ""})
    (tmp_path / "config/main/db/int/int-1/r1/p.yaml").rename(tmp_path / "config/main/db/int/int-1/r1/patch-9.yaml")
    write_files(tmp_path, {"config/main/db/int/int-1/r1/patch-9.yaml": "applications: {db: {project: p}}"})
    code, out, err = fleet("promote", "--auto", "--all")
    assert (code, "[CMD-FLT-074]" in err) == (1, True)  # nothing is known about db
    states = {"main/int/int-1/r1": {"db": {"health": "Healthy", "sync": "Synced", "revision": "v1.13.3"}}}
    (tmp_path / "s.json").write_text(json.dumps({"cells": states}))
    code, out, _ = fleet("promote", "--auto", "--all", "--status", str(tmp_path / "s.json"), "--no-generate")
    assert code == 0
    assert "main/db/patch-9 goes to int/int-1/r2" in out
    assert "main/web/patch-001 waits" in out


@pytest.mark.parametrize("words", [(), ("main",), ("--all",), (*WEB, "--auto", "--all"), ("--auto",)])
def test_which_patch_is_not_clear(fleet: Call, words: tuple[str, ...]) -> None:
    code, _, err = fleet("promote", *words)
    assert (code, "[CMD-FLT-079]" in err) == (2, True)


def test_a_dry_run_and_json(fleet: Call, tmp_path: Path) -> None:
    code, out, _ = fleet("promote", *WEB, "--approve", "--dry-run", "-o", "json")
    found = json.loads(out)[0]
    assert (code, found["place"], found["writes"]) == (0, "prod/prod-1/r1", [f"{APP}/prod/prod-1/patch-001.yaml"])
    assert not (tmp_path / APP / "prod").exists()


def test_plan_status_and_graph(fleet: Call, tmp_path: Path) -> None:
    code, out, _ = fleet("plan", *WEB)
    assert code == 0
    assert out.splitlines()[0] == "1. prod/prod-1/r1: 1 cell, approval of prod"
    assert json.loads(fleet("plan", *WEB, "-o", "json")[1])["steps"][-1]["folded"] is True
    assert fleet("plan", *WEB, "-o", "markdown")[1].count("\n| ") == 3
    code, out, _ = fleet("status")
    assert out.splitlines()[:2] == [
        "main/web/patch-001: 3 of 6 cells (int)",
        "  next: prod/prod-1/r1, prod is entered by hand",
    ]
    assert "main/web: other than" in out
    found = json.loads(fleet("status", "-o", "json")[1])
    assert found["patches"][0]["placements"] == ["int"]
    assert found["versions"]["main/web"]["int/int-1/r1"] == "v5.0.0"
    (tmp_path / "s.json").write_text('{"cells": {}}')
    assert "3 of 6 cells, 0 healthy" in fleet("status", "--status", str(tmp_path / "s.json"))[1]
    mermaid = fleet("graph")[1]
    assert 'c0["int/int-1/r1<br/>A"]' in mermaid
    assert "c2 -->|by hand| c3" in mermaid
    assert "%% A: main/web/patch-001" in mermaid
    assert 'c5 [label="prod/prod-2/eu' in fleet("graph", "--format", "dot")[1]
    svg = ElementTree.fromstring(fleet("graph", "--format", "svg")[1])
    assert len(svg.findall("{http://www.w3.org/2000/svg}rect")) == 3


def test_fold(fleet: Call, tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            f"{APP}/prod/patch-001.yaml": VERSION,
            f"{APP}/prod/prod-2/values.yaml": patch("source: {targetRevision: v4}"),
        },
    )
    code, _, err = fleet("fold", *WEB)
    assert code == 1
    assert "2 cells [CMD-FLT-086]" in err
    code, out, _ = fleet("fold", *WEB, "--overrides", "keep", "--dry-run")
    assert code == 0
    assert "source.targetRevision: 'v5.0.0' → 'v4' in 2 cells" in out
    found = json.loads(fleet("fold", *WEB, "--overrides", "update", "-o", "json", "--no-generate")[1])
    assert sorted(found["writes"]) == [f"{APP}/prod/prod-2/values.yaml", f"{APP}/values.yaml"]
    assert fleet("generate")[0] == 0
    assert fleet("fold", *WEB)[0] == 1


@pytest.mark.requirement("F51")
def test_apply_patch(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, {"config/main/db/patches/new.yaml": "patch: {db: {project: p}}"})
    assert "would be written" in fleet("generate", "--apply-patch", "new", "--dry-run")[1]
    assert not (tmp_path / "config/main/db/int").exists()
    code, out, _ = fleet("generate", "--apply-patch", "new")
    assert (code, out.splitlines()[0]) == (0, "config/main/db/int/int-1/r1/patches/new.yaml is written")
    assert "is started already" in fleet("generate", "--apply-patch", "new")[2]


def test_live_state_of_a_dependency_when_generating(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, {f"{APP}/int/patch-001.yaml": patch("project: p", "dependencies: [{/db/health: Healthy}]")})
    assert "CMD-FLT-047" not in fleet("generate")[2]  # the output does not depend on the time of day
    (tmp_path / "s.json").write_text('{"cells": {}}')
    assert "CMD-FLT-047" in fleet("validate", "--status", str(tmp_path / "s.json"))[2]


@pytest.mark.requirement("F24", "F28")
@pytest.mark.parametrize(("revision", "left_out"), [("v1.13.3", False), ("v1.13.2", True)])
def test_an_application_is_ready_at_its_own_revision(
    fleet: Call, tmp_path: Path, revision: str, left_out: bool
) -> None:
    """Generating judges a dependency on the live state as promoting does."""
    write_files(tmp_path, {f"{APP}/int/patch-001.yaml": patch("project: p", "dependencies: [{/db/ready: true}]")})
    state = {"health": "Healthy", "sync": "Synced", "revision": revision}
    cells = {f"main/int/{cell}": {"db": state} for cell in ("int-1/r1", "int-1/r2", "int-2/r1")}
    (tmp_path / "s.json").write_text(json.dumps({"cells": cells}))
    assert ("CMD-FLT-047" in fleet("validate", "--status", str(tmp_path / "s.json"))[2]) is left_out


def test_a_patch_that_has_skipped_cells_is_not_everywhere(fleet: Call, tmp_path: Path) -> None:
    (tmp_path / APP / "int/patch-001.yaml").unlink()
    write_files(tmp_path, {f"{APP}/prod/prod-2/patch-001.yaml": VERSION})
    out = fleet("status")[1]
    assert "has skipped" in out
    assert "everywhere" not in out
