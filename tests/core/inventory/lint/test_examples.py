"""The examples of this repository have no mistakes."""

from __future__ import annotations

from commodore.core.inventory.lint import LintRequest, lint
from tests.world.cluster import ROOT
from tests.world.context import make_context


def test_all_linters_on_the_examples() -> None:
    others = {"fleet", "observe"}  # no classes
    folders = [path for path in sorted((ROOT / "examples").iterdir()) if path.is_dir() and path.name not in others]
    report = lint(LintRequest(tuple(folders), ("all",)), make_context(announce=lambda _: None))
    assert report.findings == ()
    assert report.files > 10
