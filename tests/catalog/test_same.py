"""A tree that is the same is left alone; whatever differs is a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.catalog import assemble
from commodore.catalog._same import files_of, holds
from tests.world.context import make_context


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    (folder / "app" / "sub").mkdir(parents=True)
    (folder / "app" / "a.yaml").write_text("a: 1\n")
    (folder / "app" / "sub" / "run.sh").write_text("true\n")
    (folder / "app" / "sub" / "run.sh").chmod(0o755)
    return folder


@pytest.fixture
def current(rendered: Path, tmp_path: Path) -> Path:
    """The output of an earlier run for the same files."""
    assert assemble([("app", rendered)], tmp_path / "current", make_context()) == tmp_path / "current"
    return tmp_path / "current"


def test_nothing_is_copied_when_all_is_there(rendered: Path, current: Path, tmp_path: Path) -> None:
    assert assemble([("app", rendered)], tmp_path / "new", make_context(), current) == current
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "change",
    [
        "content",
        "same size",
        "mode",
        "more",
        "less",
        "hidden",
        "link",
        "linked folder",
        "empty folder",
        "folder",
        "gone",
    ],
)
def test_any_difference_counts(rendered: Path, current: Path, tmp_path: Path, change: str) -> None:
    file = current / "app" / "a.yaml"
    if change == "content":
        file.write_text("a: 10\n")
    elif change == "same size":
        file.write_text("a: 2\n")
    elif change == "mode":
        file.chmod(0o755)
    elif change == "more":
        (current / "more.yaml").write_text("")
    elif change == "less":
        file.unlink()
    elif change == "hidden":
        (current / ".hidden").write_text("")
    elif change == "link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    elif change == "linked folder":
        (current / "app").rename(tmp_path / "elsewhere")
        (current / "app").symlink_to(tmp_path / "elsewhere")
    elif change == "empty folder":
        (current / "empty").mkdir()
    elif change == "folder":
        file.unlink()
        file.mkdir()
    else:
        current.rename(tmp_path / "gone")
    assert assemble([("app", rendered)], tmp_path / "new", make_context(), current) == tmp_path / "new"
    assert files_of(tmp_path / "new").keys() == {"app/a.yaml", "app/sub/run.sh"}


def test_an_empty_tree(tmp_path: Path) -> None:
    """Nothing rendered and nothing there is the same; a folder that is missing is not there."""
    (tmp_path / "current").mkdir()
    assert holds(tmp_path / "current", {})
    assert not holds(tmp_path / "missing", {})
