"""Files that a lint reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, InputError
from commodore.core.inventory import class_files

FILES = ["a.yml", "b.json", "c/d.yml", "c/e/f.yml", "c/e/g", "x/d.yml", ".hidden.yml", ".git/config", "c/.h/i.yml"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "f" / name).write_text("{}")
    return tmp_path / "f"


def listed(folder: Path, *patterns: str, ignore: str | None = None) -> list[str]:
    if ignore is not None:
        (folder / ".commodoreignore").write_text(ignore)
    return [str(path.relative_to(folder)) for path in class_files(folder, patterns)]


ALL = ["a.yml", "b.json", "c/d.yml", "c/e/f.yml", "c/e/g", "x/d.yml"]


def test_all_files_in_path_order(folder: Path) -> None:
    """Recursive, whatever the extension; hidden entries are left out."""
    assert listed(folder) == ALL


@pytest.mark.parametrize("ignore", ["", "\n", "\n\n  \n\t\n", "..\n", "../f\n", "/../f\n", "nothing\n"])
def test_lines_that_mean_nothing(folder: Path, ignore: str) -> None:
    """A blank line matched every folder, so that the whole lint passed silently."""
    assert listed(folder, ignore=ignore) == ALL


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("d.yml", ["a.yml", "b.json", "c/e/f.yml", "c/e/g"]),
        ("/c/d.yml", ["a.yml", "b.json", "c/e/f.yml", "c/e/g", "x/d.yml"]),
        ("/d.yml", ALL),
        ("e", ["a.yml", "b.json", "c/d.yml", "x/d.yml"]),
        ("e/", ["a.yml", "b.json", "c/d.yml", "x/d.yml"]),
        ("d.yml/", ALL),
        ("/a.yml/", ALL),
        ("/c", ["a.yml", "b.json", "x/d.yml"]),
        ("*.yml", ["b.json", "c/e/g"]),
        ("/*.yml", ["b.json", "c/d.yml", "c/e/f.yml", "c/e/g", "x/d.yml"]),
        ("/c/**/g", ["a.yml", "b.json", "c/d.yml", "c/e/f.yml", "x/d.yml"]),
        ("[ab].*", ["c/d.yml", "c/e/f.yml", "c/e/g", "x/d.yml"]),
        ("  /x  ", ["a.yml", "b.json", "c/d.yml", "c/e/f.yml", "c/e/g"]),
        ("*", []),
        ("/", []),
        (".", []),
        ("**", []),
    ],
)
@pytest.mark.parametrize("source", ["option", "file"])
def test_patterns(folder: Path, pattern: str, left: list[str], source: str) -> None:
    """`/` anchors, other patterns match at any depth, an ignored folder ignores what is in it."""
    if source == "option":
        assert listed(folder, pattern) == left
    else:
        assert listed(folder, ignore=f"\nnothing\r\n{pattern}\n\n") == left


def test_a_file(folder: Path) -> None:
    """The patterns of its folder count."""
    assert list(class_files(folder / "a.yml")) == [folder / "a.yml"]
    assert list(class_files(folder / "a.yml", ["*.yml"])) == []
    assert list(class_files(folder / "a.yml", ["b*"])) == [folder / "a.yml"]


def test_patterns_that_mean_nothing(folder: Path) -> None:
    (folder / ".commodoreignore").write_text("**x\n")
    with pytest.raises(InputError) as raised:
        list(class_files(folder))
    assert raised.value.code == "CMD-INV-024"
    assert "'**x'" in raised.value.message
    assert str(raised.value.locations[0]) == str(folder / ".commodoreignore")


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "loop").symlink_to(".")
    assert listed(folder) == ALL


def test_an_ignore_file_that_is_no_text(folder: Path) -> None:
    (folder / ".commodoreignore").write_bytes(b"\xff\xfe\n/x\n")
    assert listed(folder) == ALL[:-1]


def test_a_folder_that_cannot_be_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for an empty one."""
    listed = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path == str(folder / "c"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(EnvironmentFault) as raised:
        list(class_files(folder))
    assert str(folder / "c") in raised.value.message
