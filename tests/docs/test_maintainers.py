"""The maintainers' pages and the architecture name folders and modules that are there; the index shows real output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.tutorials import Command, steps

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PATH = re.compile(r"`((?:commodore|tests|scripts)/[\w/.-]+)`")
PAGES = sorted((DOCS / "explanation").glob("maintain-*.md"))
# Folders that a page need not name: their parts are described with others.
ALIKE = {"model", "trees", "watching", "operations"}
SYSTEMS = ("argocd", "catalog", "clusters", "fleet", "hydrate", "observe")


def test_every_system_has_a_page() -> None:
    assert [page.stem.removeprefix("maintain-") for page in PAGES] == list(SYSTEMS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_paths_exist(page: Path) -> None:
    paths = PATH.findall(page.read_text(encoding="utf-8"))
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_folder_of_a_system_is_on_its_page() -> None:
    for system in SYSTEMS:
        text = (DOCS / "explanation" / f"maintain-{system}.md").read_text(encoding="utf-8")
        folders = {path.parent for path in (ROOT / "commodore" / system).glob("*/__init__.py")}
        missing = [folder.name for folder in folders if str(folder.relative_to(ROOT)) not in text]
        assert [name for name in missing if name not in ALIKE] == []


def test_the_index_shows_the_output_of_the_tutorials() -> None:
    """Each line that the index shows below a command is on a page whose commands are run by tests."""
    executed = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "tutorial").glob("*.md"))
    shown = [step for step in steps((DOCS / "index.md").read_text(encoding="utf-8")) if isinstance(step, Command)]
    assert len(shown) == 6
    lines = [line for step in shown if step.shell != "make demo" for line in step.shown.splitlines()]
    assert len(lines) > 15
    assert [line for line in lines if line not in executed.splitlines()] == []
