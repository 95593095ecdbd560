"""`commodore fleet owners`, in a real repository."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.gotemplate.functions import regexps
from tests.cli.conftest import Shown
from tests.fleet.conftest import APP, charts, patch
from tests.world.folders import write_files
from tests.world.repos import git

Call = Callable[..., Shown]


@pytest.fixture
def fleet(call: Call, tmp_path: Path) -> Call:
    """Run a command of `fleet owners` in a committed fleet."""
    files = {
        "OWNERS": "approvers: [Boss]\n",
        "OWNERS_ALIASES": "aliases: {team: [Ann, bob]}\n",
        f"{APP}/OWNERS": "approvers: [team]\nfilters: {'^prod/': {approvers: [eve]}}\n",
        f"{APP}/int/OWNERS": "approvers: [dev]\noptions: {no_parent_owners: true}\n",
        "config/main/db/metadata.yaml": "owners: [dba]\n",
    }
    write_files(tmp_path, charts(**files))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    return lambda *words: call("-d", str(tmp_path), "fleet", "owners", *words)


@pytest.mark.requirement("F62")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{APP}/values.yaml", ["ann", "bob", "boss"]),
        (f"{APP}/prod/values.yaml", ["ann", "bob", "boss", "eve"]),
        (f"{APP}/int/int-1/values.yaml", ["dev"]),
        ("config/main/db/values.yaml", ["boss"]),
    ],
)
def test_who_may_approve(fleet: Call, path: str, expected: list[str]) -> None:
    assert json.loads(fleet("list", path, "-o", "json")[1])["approvers"] == expected
    assert fleet("list", path)[1].split() == expected


@pytest.mark.requirement("F62")
@pytest.mark.parametrize("with_re2", [True, False])
def test_a_filter_that_would_take_for_ever(
    fleet: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_re2: bool
) -> None:
    """RE2 does not go back and forth; without it the search is ended."""
    if not with_re2:
        monkeypatch.setitem(sys.modules, "re2", None)
        monkeypatch.setattr(regexps, "SECONDS", 0.2)
    write_files(tmp_path, {f"{APP}/OWNERS": "filters: {'^(a+)+$': {approvers: [eve]}}\n"})
    git(tmp_path, "commit", "-qam", "y")
    status, output, errors = fleet("list", f"{APP}/{'a' * 60}!")
    assert (status, output.split()) == ((0, ["boss"]) if with_re2 else (1, []))
    assert with_re2 or ("CMD-FLT-082" in errors and "raise regexp_seconds with COMMODORE_LIMITS" in errors)


@pytest.mark.requirement("F62")
def test_without_owners_files_the_metadata_counts(fleet: Call, tmp_path: Path) -> None:
    git(tmp_path, "rm", "-q", "OWNERS")
    git(tmp_path, "commit", "-qm", "y")
    assert fleet("list", "config/main/db/values.yaml")[1].split() == ["dba"]


@pytest.mark.requirement("F62")
def test_changes_need_an_owner(fleet: Call, tmp_path: Path) -> None:
    assert fleet("check", "--author", "x")[0] == 0
    write_files(
        tmp_path,
        {f"{APP}/int/values.yaml": patch("project: p"), f"{APP}/OWNERS": "approvers: [x]\n"},
    )
    (tmp_path / "config/main/db/values.yaml").rename(tmp_path / "config/main/db/moved.yaml")
    code, _, err = fleet("check", "--author", "X", "--approved-by", "DEV")
    assert code == 1
    assert f"{APP}/int/values.yaml" not in err
    assert f"{APP}/OWNERS may be changed by ann, bob, boss, not by dev, x [CMD-FLT-080]" in err  # those of HEAD count
    assert "config/main/db/values.yaml may be changed by boss" in err
    assert fleet("check", "--author", "boss", "--approved-by", "dev")[0] == 0


def test_a_change_of_rendered_needs_a_cause(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, {"rendered/main/a": "x"})
    code, _, err = fleet("check", "--author", "boss")
    assert (code, "[CMD-FLT-060]" in err) == (1, True)


@pytest.mark.requirement("F62")
def test_output_that_was_edited_is_seen_beside_other_changes(fleet: Call, tmp_path: Path, call: Call) -> None:
    """Everything that the configuration makes needs no owner, whatever else has changed; anything else has no cause."""
    assert call("-d", str(tmp_path), "fleet", "generate")[0] == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "generated")
    edited = tmp_path / "rendered/main/prod/prod-1/r1/values.yaml"
    edited.write_text(edited.read_text().replace("v4.17.0", "evil"))
    write_files(tmp_path, {"README.md": "hi\n", f"{APP}/int/values.yaml": patch("project: p")})
    code, _, err = fleet("check", "--author", "dev")
    assert (code, "rendered/main/prod/prod-1/r1/values.yaml [CMD-FLT-060]" in err) == (1, True)
    assert call("-d", str(tmp_path), "fleet", "generate")[0] == 0
    assert "evil" not in edited.read_text()
    assert fleet("check", "--author", "dev")[0] == 0
    write_files(tmp_path, {"config/config.yaml": "[]"})
    assert fleet("check", "--author", "boss", "--approved-by", "dev")[0] == 1  # what it makes is unknown


@pytest.mark.requirement("F62")
@pytest.mark.parametrize("path", ["OWNERS", "OWNERS_ALIASES", "templates/application.yaml", "argocd-apps/x", "chart/x"])
def test_the_rules_and_the_templates_have_owners(fleet: Call, tmp_path: Path, path: str) -> None:
    """Or the next change would be its author's own, or reach all cells."""
    text = (tmp_path / "config/config.yaml").read_text()
    write_files(tmp_path, {"config/config.yaml": f"{text}generator: {{chart: chart}}\n", "chart/a.yaml": "a"})
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "y")
    write_files(tmp_path, {path: "approvers: [mallory]\n"})
    code, _, err = fleet("check", "--author", "mallory")
    assert (code, f"{path} may be changed by boss, not by mallory [CMD-FLT-080]" in err) == (1, True)
    assert "and no author or approver is given" in fleet("check")[2]
    assert fleet("check", "--author", "boss")[0] == 0


def test_owners_files_that_are_wrong(fleet: Call, tmp_path: Path) -> None:
    write_files(tmp_path, {"OWNERS": "aprovers: [a]\n"})
    git(tmp_path, "commit", "-qam", "y")
    code, _, err = fleet("list", "config/x")
    assert (code, "'aprovers' is unknown" in err, "[CMD-FLT-081]" in err) == (0, True, True)
    write_files(tmp_path, {"OWNERS": "[a]\n"})
    git(tmp_path, "commit", "-qam", "z")
    code, _, err = fleet("list", "config/x")
    assert (code, "OWNERS is a list, must be a map" in err, "[CMD-FLT-082]" in err) == (1, True, True)
    write_files(tmp_path, {"OWNERS": "approvers: 3\nfilters: {'(': {}}\n"})
    git(tmp_path, "commit", "-qam", "z")
    code, _, err = fleet("list", "config/x")
    assert (code, "/approvers is a number (3)" in err, "'(' cannot be used" in err) == (1, True, True)
