"""A small hierarchy to lint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from commodore.base.events import Announce, ignore
from commodore.core.inventory.lint import Finding, LintRequest, Report, lint
from tests.world.context import make_context
from tests.world.folders import write_files


def run(folder: Path, *linters: str, announce: Announce = ignore) -> Report:
    """Lint a folder."""
    return lint(LintRequest((folder,), linters), make_context(announce=announce))


def findings(folder: Path, files: Mapping[str, str | bytes], *linters: str) -> list[Finding]:
    """What linters find in files, with file names relative to the folder."""
    return list(run(write_files(folder, files), *linters).findings)


def shown(folder: Path, files: Mapping[str, str | bytes], *linters: str) -> list[str]:
    """The findings as `file:line:column rule`."""
    found = findings(folder, files, *linters)
    return [f"{Path(one.file).relative_to(folder)}:{one.line}:{one.column} {one.rule}" for one in found]
