"""The report of a lint: findings of rules, and files that were left out.

An error is wrong whatever other files say. A warning may be right if a file says so that was not linted. The code of a
finding is `LINTER/RULE`, its place a file as the user would write it with line and column (in characters) from one, and
its object the path of the field in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from commodore.base.diagnostics import Diagnostic, Rule, Severity


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no class file and was not linted, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A finding as the document for machines shows it."""

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


def _record(one: Diagnostic) -> FindingRecord:
    (linter, _, rule), place = one.code.partition("/"), one.locations[0]
    about = str(one.subject.object)
    return FindingRecord(
        linter, rule, one.severity, one.message, place.place, place.line, place.column, about, one.hint
    )


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a lint: what was found, in the order of files and lines; what was read and what was not.

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
        """The number of findings that are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """The number of the other findings."""
        return len(self.findings) - self.errors
