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
    assert "prod requires approval (config/config.yaml:10:7) [CMD-FLT-073]" in err
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
    assert fleet("promote", *WEB, "--auto")[:2] == (5, "main/web/patch-001 waits: prod requires approval\n")
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
    load = json.loads(out)["steps"][0]
    assert (code, load["place"], load["writes"]) == (0, "prod/prod-1/r1", [f"{APP}/prod/prod-1/patch-001.yaml"])
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
        "  next: prod/prod-1/r1, prod requires approval",
    ]
    assert "main/web: other than" in out
    loads = json.loads(fleet("status", "-o", "json")[1])
    assert loads["patches"][0]["placements"] == ["int"]
    assert loads["versions"]["main/web"]["int/int-1/r1"] == "v5.0.0"
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
    loads = json.loads(fleet("fold", *WEB, "--overrides", "update", "-o", "json", "--no-generate")[1])
    assert sorted(loads["writes"]) == [f"{APP}/prod/prod-2/values.yaml", f"{APP}/values.yaml"]
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


@pytest.fixture
def waiting(fleet: Call, tmp_path: Path) -> Call:
    """The same with a patch of `db` that depends on a later version of `web` than any cell has."""
    text = patch("project: p", "dependencies: [{/web/version: '>=6.0.0'}]").replace(
        "web:\n    project", "db:\n    project"
    )
    write_files(tmp_path, {"config/main/db/int/patch-9.yaml": text})
    (tmp_path / APP / "int/patch-001.yaml").unlink()
    state = {"health": "Healthy", "sync": "Synced"}
    cells = ("int/int-1/r1", "int/int-1/r2", "int/int-2/r1", "prod/prod-1/r1", "prod/prod-2/r1", "prod/prod-2/eu")
    known = {f"main/{cell}": {"db": {**state, "revision": "v1.13.3"}} for cell in cells}
    (tmp_path / "s.json").write_text(json.dumps({"cells": known}))
    return fleet


PLACED = "int/int-1/r1, int/int-1/r2, int/int-2/r1"


@pytest.mark.requirement("F29", "F56", "F63")
def test_a_patch_whose_dependency_is_not_met_waits(waiting: Call, tmp_path: Path) -> None:
    code, out, _ = waiting("status")
    assert code == 0
    assert out.splitlines()[:2] == [
        "main/db/patch-9: 3 of 6 cells (int)",
        f"  applied in 0 of 3, waits for web >=6.0.0, which is 'v4.17.0' in 3 cells ({PLACED})",
    ]
    (result,) = json.loads(waiting("status", "-o", "json")[1])["patches"]
    assert (result["reached"], result["applied"], len(result["waits"][0]["cells"])) == (3, 0, 3)
    lines = waiting("plan", "main", "db", "patch-9")[1].splitlines()
    assert lines[0].startswith("now: waits for web >=6.0.0, which is 'v4.17.0' in 3 cells")
    assert lines[2] == "   applied in 0 of 1, waits for web >=6.0.0, which is 'v4.17.0' in 1 cell (prod/prod-1/r1)"
    assert json.loads(waiting("plan", "main", "db", "patch-9", "-o", "json")[1])["steps"][0]["applied"] == 0
    config = (tmp_path / "config/config.yaml").read_text().replace("promotion: manual", "promotion: automated")
    write_files(tmp_path, {"config/config.yaml": config})
    code, out, _ = waiting("promote", "--auto", "--all", "--status", str(tmp_path / "s.json"))
    assert code == 5
    assert out.startswith("main/db/patch-9 waits: needs web >=6.0.0, which is 'v4.17.0' in 4 cells")
    assert not (tmp_path / "config/main/db/prod").exists()
    out = waiting("promote", "--auto", "--all", "-o", "json", "--status", str(tmp_path / "s.json"))[1]
    (step,) = json.loads(out)["steps"]
    assert step["waits"].startswith("needs web >=6.0.0")
    code, out, err = waiting("promote", "main", "db", "patch-9", "--no-generate")  # by a person
    assert (code, out) == (0, "main/db/patch-9 goes to prod/prod-1/r1\n  prod/prod-1 stands for prod/prod-1/r1\n")
    assert "[CMD-FLT-047]" in err


@pytest.mark.requirement("F29", "F63")
def test_a_patch_that_waits_everywhere_is_not_folded(waiting: Call, tmp_path: Path) -> None:
    text = (tmp_path / "config/main/db/int/patch-9.yaml").read_text()
    write_files(tmp_path, {"config/main/db/prod/patch-9.yaml": text})
    assert "everywhere: fold it" not in waiting("status")[1]
    for words in (("promote", "main", "db", "patch-9"), ("fold", "main", "db", "patch-9", "--overrides", "keep")):
        code, _, err = waiting(*words)
        assert code == 1
        assert "patch-9 of db would apply in 6 cells where it waits for web >=6.0.0, which is 'v4.17.0'" in err
        assert "other patches" not in err
    assert waiting("promote", "main", "db", "patch-9", "--auto")[0] == 5
    assert waiting("generate")[0] == 0  # which stops nobody


@pytest.mark.requirement("F22")
def test_a_finished_patch_stops_its_own_application_alone(fleet: Call, tmp_path: Path) -> None:
    fleet("generate")
    write_files(
        tmp_path,
        {
            f"{APP}/prod/patch-001.yaml": VERSION,
            "config/main/db/prod/values.yaml": "applications: {db: {project: other}}",
        },
    )
    code, out, err = fleet("generate")
    assert (code, out) == (1, "6 cells, 30 files: 3 files changed\n")
    assert "active in all 6 cells: web stays as it is rendered [CMD-FLT-037]" in err
    assert f"fold it into {APP}/values.yaml: commodore fleet fold main web patch-001" in err
    values = (tmp_path / "rendered/main/prod/prod-1/r1/values.yaml").read_text()
    assert ("project: other" in values, "v5.0.0" in values) == (True, False)
    assert fleet("validate")[0] == 1
    assert fleet("fold", *WEB)[0] == 0
    assert "v5.0.0" in (tmp_path / "rendered/main/prod/prod-1/r1/values.yaml").read_text()


def test_a_promotion_generates_what_it_has_brought_everywhere(fleet: Call, tmp_path: Path) -> None:
    """Its fold would lose against an override. Others generate as before."""
    write_files(
        tmp_path,
        {
            f"{APP}/int/patch-001.yaml": patch("project: p"),
            f"{APP}/prod/prod-1/patch-001.yaml": patch("project: p"),
            f"{APP}/prod/prod-2/r1/patch-001.yaml": patch("project: p"),
            f"{APP}/prod/prod-2/eu/values.yaml": patch("project: q"),
        },
    )
    fleet("generate")
    code, out, err = fleet("promote", *WEB, "--approve")
    assert (code, out.splitlines()[-1]) == (1, "6 cells, 30 files: 1 file changed"), err
    assert "[CMD-FLT-086]" in err
    assert "project: p" in (tmp_path / "rendered/main/prod/prod-2/eu/values.yaml").read_text()
    assert fleet("generate", "--dry-run", "--validate")[:2] == (0, "6 cells, 30 files: unchanged\n")
    write_files(tmp_path, {"config/main/db/prod/values.yaml": "applications: {db: {project: other}}"})
    assert fleet("generate")[:2] == (0, "6 cells, 30 files: 3 files changed\n")


@pytest.mark.parametrize("command", [["promote", *WEB, "--approve"], ["fold", *WEB, "--overrides", "keep"]])
def test_json_stands_alone_although_the_fleet_is_generated(fleet: Call, tmp_path: Path, command: list[str]) -> None:
    if command[0] == "fold":
        write_files(tmp_path, {f"{APP}/prod/patch-001.yaml": VERSION})
    code, out, err = fleet(*command, "-o", "json")
    assert code == 0
    json.loads(out)
    assert "6 cells, 30 files: 30 files changed" in err


def test_a_dry_run_says_what_would_be_done(fleet: Call) -> None:
    code, out, _ = fleet("promote", *WEB, "--approve", "--dry-run")
    assert (code, out.splitlines()[0]) == (0, "main/web/patch-001 would go to prod/prod-1/r1")


def test_a_dimension_that_does_not_exist_as_level(fleet: Call) -> None:
    code, _, err = fleet("promote", "--auto", "--all", "--level", "sector")
    assert (code, "did you mean 'sectors'?" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        (("--app", "db"), ["main/db"], ["main/web", "patch-001"]),
        (("--patch", "patch-001"), ["main/web/patch-001: 3 of 6", "main/web"], ["main/db"]),
        (("--cell", "prod"), ["prod/prod-2/eu", "no patches match"], ["int/int-1/r1"]),
        (("--cell", "main/int/int-1/r1"), ["int/int-1/r1", "patch-001: 3 of 6"], ["prod/prod-2/eu", "int/int-1/r2"]),
        (("-o", "matrix"), ["main            db       web\n", "int/int-1/r1    v1.13.3  v5.0.0\n"], ["main/db\n"]),
    ],
)
def test_parts_of_the_status(fleet: Call, words: tuple[str, ...], shown: list[str], hidden: list[str]) -> None:
    code, out, _ = fleet("status", *words)
    assert code == 0
    assert [text for text in shown if text not in out] == [], out
    assert [text for text in hidden if text in out.replace("next: prod/prod-1/r1, prod", "")] == [], out


def test_only_what_lags(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, {f"{APP}/int/values.yaml": patch("source: {targetRevision: v3}")})
    (tmp_path / APP / "int/patch-001.yaml").unlink()
    write_files(
        tmp_path,
        {
            f"{APP}/int/int-2/patch-001.yaml": VERSION,
            "config/main/db/int/patch-2.yaml": "applications: {db: {project: p}}",
        },
    )
    out = fleet("status", "--lagging")[1]
    assert "main/web/patch-001: 1 of 6 cells" in out  # which has skipped cells
    assert "patch-2" not in out
    assert "main/db" not in out
    assert [line.split() for line in out.splitlines() if line.startswith("  int/")] == [
        ["int/int-1/r1", "v3"],
        ["int/int-1/r2", "v3"],
        ["int/int-2/r1", "v5.0.0"],
    ]
    write_files(
        tmp_path,
        {f"config/main/db/{name}/patch-2.yaml": "applications: {db: {project: p}}" for name in ("int", "prod")},
    )
    assert "main/db/patch-2: 6 of 6 cells (int, prod)\n  everywhere: fold it" in fleet("status", "--lagging")[1]


@pytest.mark.parametrize("option", ["--app", "--patch", "--cell", "--cluster-type"])
def test_an_unknown_name_for_the_status(fleet: Call, option: str) -> None:
    code, out, err = fleet("status", option, "nothing")
    assert (code, out, "[CMD-FLT-090]" in err) == (2, "", True)


def test_the_status_of_a_large_fleet_is_short(fleet: Call, tmp_path: Path) -> None:
    regions = ", ".join(f"r{number}" for number in range(200))
    config = f"dimensions: [regions]\nsequence: {{regions: [{regions}]}}\ncluster_types: [main]\n"
    (tmp_path / APP / "int/patch-001.yaml").unlink()
    write_files(
        tmp_path, {"config/config.yaml": config, f"{APP}/r1/values.yaml": patch("source: {targetRevision: v3}")}
    )
    lines = fleet("status")[1].splitlines()
    assert len(lines) == 5
    assert "main/web: v4.17.0 in 199 of 200 cells" in lines
    assert "main/web: other than v4.17.0: r1" in lines
    assert len(fleet("status", "--app", "web")[1].splitlines()) > 200
