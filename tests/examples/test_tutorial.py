"""The tutorial and the README say what is so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "examples"
TUTORIAL = ROOT / "docs" / "tutorial" / "first-catalog.md"
CATALOG = ".cache/demo/catalog/"


def shown() -> Iterator[tuple[list[str], str]]:
    """Each command of the tutorial, in words, and the output that is shown for it."""
    for block in re.findall(r"^```console\n(.*?)^```", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition("\n")
            yield line.split(), output


def test_the_files_shown_are_the_golden_ones() -> None:
    result = 0
    for (program, *arguments), output in shown():
        if arguments and arguments[-1].startswith(CATALOG):
            content = (GOLDEN / arguments[-1].removeprefix(CATALOG)).read_text(encoding="utf-8")
            if program == "grep":
                content = "".join(line for line in content.splitlines(keepends=True) if arguments[0] in line)
            assert output == content
            result += 1
    assert result == 3


def test_the_catalog_has_the_files_that_are_listed() -> None:
    listed = re.findall(r"Added file (\S+)", TUTORIAL.read_text(encoding="utf-8"))
    assert listed
    assert [file for file in listed if not (GOLDEN / file).is_file()] == []


@pytest.mark.parametrize("page", [TUTORIAL, ROOT / "examples" / "README.md"], ids=lambda page: page.name)
def test_the_tables_name_what_is_there(page: Path) -> None:
    """And examples/README.md names everything that is there."""
    named = re.findall(r"^\| `([^`]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    there = {name.split("/")[0] for name in named}
    assert [name for name in named if not (ROOT / "examples" / name).exists()] == []
    if page.name == "README.md":
        assert there == {path.name for path in (ROOT / "examples").iterdir()} - {"README.md"}


def test_the_changes_that_the_tutorial_makes_can_be_made() -> None:
    files = {"tenant-config/c-example.yml": "replicas: 2", "component-alerts/lib/alerts.libsonnet": "'5m'"}
    text = TUTORIAL.read_text(encoding="utf-8")
    for file, part in files.items():
        assert f"`{part}`" in text
        assert (ROOT / "examples" / file).read_text(encoding="utf-8").count(part) == 1
