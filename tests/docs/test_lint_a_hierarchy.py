"""The pages about linters: the how-to can be followed, the reference names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commodore.core.inventory.lint import LINTERS
from tests.docs.tutorials import follow, reader_environment
from tests.world.cluster import ROOT

HOW_TO = ROOT / "docs" / "how-to" / "lint-a-hierarchy.md"
REFERENCE = ROOT / "docs" / "reference" / "linters.md"


def test_a_reader_sees_what_the_page_shows(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    environment = reader_environment(tmp_path_factory.mktemp("bin"))
    done = follow(HOW_TO.read_text(encoding="utf-8"), tmp_path, environment)
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert [item.code for item in done] == [0, 0, 0, 1, 1, 0, 0, 0, 0, 1]


def test_the_reference_names_each_linter_and_rule() -> None:
    """Rule ids are stable: people name them in other tools."""
    page = REFERENCE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `([a-z-]+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert {
        name: set(re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", text, re.MULTILINE)) for name, text in sections.items()
    } == {
        "files": {("unreadable-file", "error")},
        **{name: {(rule.id, rule.severity) for rule in kind.rules} for name, kind in LINTERS.items()},
    }
    for name, kind in LINTERS.items():
        assert ("*runs by default*" in sections[name]) == kind.by_default
