"""A small hierarchy to lint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from commodore.base.diagnostics import Diagnostic, Severity
from commodore.base.events import Announce, ignore
from commodore.core.inventory.lint import LintRequest, Report, lint
from tests.world.context import make_context
from tests.world.folders import write_files


class Found(NamedTuple):
    """A finding, taken apart."""

    linter: str
    rule: str
    severity: Severity
    message: str
    file: str
    line: int | None
    column: int | None
    parameter: str
    hint: str

    @classmethod
    def of(cls, finding: Diagnostic) -> Found:
        (linter, _, rule), place = finding.code.partition("/"), finding.locations[0]
        parameter = str(finding.subject.object)
        return cls(
            linter,
            rule,
            finding.severity,
            finding.message,
            place.place,
            place.line,
            place.column,
            parameter,
            finding.hint,
        )


def run(folder: Path, *linters: str, announce: Announce = ignore) -> Report:
    """Lint a folder."""
    return lint(LintRequest((folder,), linters), make_context(announce=announce))


def findings(folder: Path, files: Mapping[str, str | bytes], *linters: str) -> list[Found]:
    """Return the findings of linters in files, with file names relative to the folder."""
    return list(map(Found.of, run(write_files(folder, files), *linters).findings))


def shown(folder: Path, files: Mapping[str, str | bytes], *linters: str) -> list[str]:
    """The findings as `file:line:column rule`."""
    results = findings(folder, files, *linters)
    return [
        f"{Path(finding.file).relative_to(folder)}:{finding.line}:{finding.column} {finding.rule}"
        for finding in results
    ]
