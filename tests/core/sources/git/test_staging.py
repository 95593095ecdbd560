"""The index as data."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.core.sources.git import RawChange, read_blobs, stage_all, staged_changes
from tests.world.context import make_context
from tests.world.repos import GitWorld, git

LINES = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def clone(world: GitWorld, tmp_path: Path) -> Path:
    files = {"keep": "k", "gone": "g", "moved": LINES, "type": "t", "mode": "m", ".gitignore": "*.tmp\n"}
    return world.remote(files=files).clone(tmp_path / "clone")


def summary(changes: list[RawChange]) -> list[tuple[str, str | None, str | None]]:
    return [(change.status, change.old_path, change.new_path) for change in changes]


def test_everything_is_staged_and_reported(clone: Path) -> None:
    (clone / "gone").unlink()
    (clone / "moved").rename(clone / "renamed")
    (clone / "renamed").write_text(LINES + "more\n")
    (clone / "type").unlink()
    (clone / "type").symlink_to("keep")
    (clone / "mode").chmod(0o755)
    (clone / "new ü\tfile").write_text("n")
    (clone / "ignored.tmp").write_text("i")
    stage_all(clone, make_context())
    changes = staged_changes(clone, make_context())
    assert summary(changes) == [
        ("D", "gone", None),
        ("M", "mode", "mode"),
        ("A", None, "new ü\tfile"),
        ("R", "moved", "renamed"),
        ("T", "type", "type"),
    ]
    by_status = {change.status: change for change in changes}
    assert 90 < (by_status["R"].similarity or 0) < 100
    assert (by_status["M"].old_mode, by_status["M"].new_mode) == ("100644", "100755")
    assert by_status["M"].old_blob == by_status["M"].new_blob
    assert (by_status["A"].old_blob, by_status["A"].old_mode) == (None, None)
    assert (by_status["D"].new_blob, by_status["D"].similarity) == (None, None)
    assert by_status["T"].new_mode == "120000"


def test_no_changes(clone: Path) -> None:
    stage_all(clone, make_context())
    assert staged_changes(clone, make_context()) == []


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a").write_text("1")
    stage_all(tmp_path, make_context())
    assert summary(staged_changes(tmp_path, make_context())) == [("A", None, "a")]


def test_a_users_own_ignore_rules_and_diff_settings_do_not_count(clone: Path, tmp_path: Path) -> None:
    """Deterministic: what is published does not depend on the machine's git configuration."""
    (tmp_path / "ignore").write_text("*\n")
    for name, value in (
        ("core.excludesFile", f"{tmp_path}/ignore"),
        ("diff.renames", "false"),
        ("diff.renameLimit", "1"),
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("core.quotePath", "true"),
        ("core.abbrev", "4"),
    ):
        git(tmp_path, "config", "--global", name, value)
    (clone / "moved").rename(clone / "renamed")
    (clone / "new").write_text("n")
    stage_all(clone, make_context())
    assert summary(staged_changes(clone, make_context())) == [("A", None, "new"), ("R", "moved", "renamed")]


def test_blobs_are_read_at_once(clone: Path) -> None:
    (clone / "keep").write_bytes(b"\xff\x00\n\n")
    (clone / "empty").write_bytes(b"")
    stage_all(clone, make_context())
    empty, keep = staged_changes(clone, make_context())
    assert keep.old_blob
    assert keep.new_blob
    assert empty.new_blob
    blobs = read_blobs(clone, [keep.new_blob, keep.old_blob, empty.new_blob, keep.old_blob], make_context())
    assert blobs == {keep.old_blob: b"k", keep.new_blob: b"\xff\x00\n\n", empty.new_blob: b""}
    assert read_blobs(clone, [], make_context()) == {}


def test_a_missing_blob_is_named(clone: Path) -> None:
    with pytest.raises(EnvironmentFault) as error:
        read_blobs(clone, ["1" * 40], make_context())
    assert error.value.code == "CMD-GIT-055"
    assert "1" * 40 in error.value.message


def test_an_unfinished_merge_names_its_first_path(clone: Path) -> None:
    """A merge-conflict error naming the first path."""
    for name, content in (("one", "1"), ("two", "2")):
        git(clone, "switch", "--quiet", "--create", name, "origin/master")
        (clone / "keep").write_text(content)
        git(clone, "commit", "--quiet", "--all", "--message", name)
    git(clone, "merge", "one", check=False)
    with pytest.raises(PolicyError) as error:
        stage_all(clone, make_context())
    assert error.value.code == "CMD-GIT-052"
    assert "'keep'" in error.value.message
