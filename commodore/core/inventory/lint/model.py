"""Report of a lint: findings of rules, and skipped files.

An error is wrong regardless of other files. A warning may be a false alarm if files were not linted. The code of a
finding is `LINTER/RULE`, its place is a file as the user would write it, with line and column (in characters) starting
at one, and its object is the path of the field in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from commodore.base.diagnostics import Diagnostic, Rule, Severity


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not linted because it is not a class file, with the reason."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A finding in the machine-readable report."""

    linter: str
    rule: str
    severity: Severity
    message: str
    file: str
    line: int | None
    column: int | None
    parameter: str
    hint: str


def _records(findings: tuple[Diagnostic, ...]) -> list[FindingRecord]:
    return list(map(_record, findings))


def _record(finding: Diagnostic) -> FindingRecord:
    (linter, _, rule), place = finding.code.partition("/"), finding.locations[0]
    about = str(finding.subject.object)
    return FindingRecord(
        linter, rule, finding.severity, finding.message, place.place, place.line, place.column, about, finding.hint
    )


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a lint: findings in the order of files and lines; linted and skipped files.

    `linters` are the linters that ran, `rules` all of their rules with the linter's name, in a fixed order.
    """

    json_properties: ClassVar = ("errors", "warnings")

    findings: tuple[Diagnostic, ...] = field(metadata={"json": _records})
    files: int
    skipped: tuple[Skipped, ...]
    linters: tuple[str, ...]
    rules: Mapping[tuple[str, str], Rule] = field(metadata={"json": False})

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return len(self.findings) - self.errors
