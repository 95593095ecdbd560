"""Variables that were removed and would be looked up in vain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.core.inventory import find_removed_variables
from commodore.core.inventory.lint.deprecated import REMOVED_VARIABLES


def removed(path: Path) -> list[tuple[str, str]]:
    return [(error.message, str(error.locations[0])) for error in find_removed_variables([path])]


@pytest.mark.parametrize(("variable", "instead"), sorted(REMOVED_VARIABLES.items()))
def test_each_variable(tmp_path: Path, variable: str, instead: str) -> None:
    (tmp_path / "a.yml").write_text(f"# comment\nparameters:\n  x: 'a {variable} b'\n")
    (error,) = find_removed_variables([tmp_path])
    assert error.code == "CMD-INV-008"
    assert error.message == f"parameters.x uses {variable}, which was removed"
    assert error.hint == f"use {instead} instead"
    assert str(error.locations[0]) == f"{tmp_path / 'a.yml'}:3"


def test_one_error_for_each_variable_and_value(tmp_path: Path) -> None:
    """Values are searched, keys are not; each error has the line of its own value."""
    (tmp_path / "a.yml").write_text(
        "classes:\n- cloud.${cloud:provider}\nparameters:\n"
        "  a:\n    b:\n    - c: ${cloud:provider} ${cloud:region}\n    - 3\n  ${cluster:dist}: x\n"
    )
    place = tmp_path / "a.yml"
    assert removed(tmp_path) == [
        ("classes[0] uses ${cloud:provider}, which was removed", f"{place}:2"),
        ("parameters.a.b[0].c uses ${cloud:provider}, which was removed", f"{place}:6"),
        ("parameters.a.b[0].c uses ${cloud:region}, which was removed", f"{place}:6"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "x: ${customer:name",
        "[${customer:name}]",
        "a: ${customer:name}\n---\nb: 1\n",
        "x: !tag '${customer:name}'",
        "# ${customer:name}\nx: 1",
        "x: ${customer:names}",
    ],
)
def test_what_is_not_removed(tmp_path: Path, content: str) -> None:
    """Files that are not one YAML map are left to reclass."""
    (tmp_path / "a.yml").write_text(content)
    assert removed(tmp_path) == []


def test_what_is_no_file(tmp_path: Path) -> None:
    """A link to nothing was a traceback, a pipe would be waited for without end."""
    (tmp_path / "dangling.yml").symlink_to("nowhere")
    (tmp_path / "loop.yml").symlink_to("loop.yml")
    os.mkfifo(tmp_path / "pipe.yml")
    (tmp_path / "bytes").write_bytes(b"\xff${customer:name}")
    assert removed(tmp_path) == []


def test_ignored_files(tmp_path: Path) -> None:
    """`.commodoreignore` counts at compile time too, a blank line in it means nothing."""
    for name in ("a.yml", "b.yml"):
        (tmp_path / name).write_text("x: ${customer:name}")
    (tmp_path / ".commodoreignore").write_text("\n/a.yml\n")
    assert [place for _, place in removed(tmp_path)] == [f"{tmp_path / 'b.yml'}:1"]


def test_several_targets(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yml").write_text("x: ${customer:name}")
    assert len(find_removed_variables([tmp_path / "a", tmp_path / "b" / "x.yml"])) == 2
