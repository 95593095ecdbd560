"""The linter `duplicate-keys`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.inventory.lint.world import findings, shown


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", ["3:1"]),
        ("a: 1\na: 2\na: 3\n", ["2:1", "3:1"]),
        ("a:\n  - b: 1\n    b: 2\n", ["3:5"]),
        ("a: {b: {c: 1, c: 2}}\n", ["1:15"]),
        ("a: {x: 1, x: 2}\na: {y: 1, y: 2}\n", ["1:11", "2:1", "2:11"]),
        ("a: 1\n'a': 2\n", ["2:1"]),
        ("1: a\n1: b\n", ["2:1"]),
        ("1: a\n'1': b\n", []),
        ("a: 1\n~a: 2\n=a: 3\n", []),
        ("a: &a {x: 1}\nb: {<<: *a, x: 2}\nc: [*a, *a]\n", []),
        ("a: &a {x: 1, x: 2}\nb: *a\nc: {<<: *a}\n", ["1:14"]),
        ("a: {<<: {x: 1}, <<: {y: 1}}\n", ["1:17"]),
        ("a: {x: 1}\nb: {x: 1}\n", []),
    ],
)
@pytest.mark.parametrize("name", ["a.yml", "a.json"])
def test_duplicates(tmp_path: Path, name: str, content: str, expected: list[str]) -> None:
    """Reclass refuses such a file; PyYAML, which other tools read it with, takes the last one."""
    assert shown(tmp_path, {name: content}, "duplicate-keys") == [f"{name}:{place} duplicate-key" for place in expected]


def test_the_message_names_the_first(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, {"a.yml": "parameters:\n  x:\n    a: 1\n    b: 2\n    a: 3\n"}, "duplicate-keys")
    assert finding.message == "the key 'a' is already set in line 3"
    assert finding.parameter == "parameters.x.a"


@pytest.mark.parametrize(
    ("content", "place", "hint"),
    [
        ("parameters: {}\napplication: [a]\n", "2:1", "did you mean 'applications'?"),
        ("classes: []\ncomponents: {}\n", "2:1", "move it below `parameters`, or remove it"),
        ("paramters: {}\n", "1:1", "did you mean 'parameters'?"),
        ("parameter: {}\n", None, ""),
        ("other: {}\n", None, ""),
        ("parameters: {}\n_x: 1\nx-y: 2\n.z: 3\nexports: {}\nenvironment: base\n", None, ""),
        ("kind: Template\nparameters: []\nobjects: []\n", None, ""),
    ],
)
def test_top_level_keys(tmp_path: Path, content: str, place: str | None, hint: str) -> None:
    """There was no check for unknown top-level keys."""
    results = findings(tmp_path, {"a.yml": content, "b.json": content}, "top-level-keys")
    assert [(f"{finding.line}:{finding.column}", finding.hint) for finding in results] == (
        [(place, hint)] if place else []
    )
    assert {finding.severity for finding in results} <= {"warning"}
