"""The report of a lint: findings of rules, and files that were left out.

An error is wrong whatever other files say. A warning may be right if a file says so that was not linted. The code of a
finding is `LINTER/RULE`, its place a file as the user would write it with line and column (in characters) from one, and
its object the path of the field in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from commodore.base.diagnostics import Diagnostic, Rule


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no class file and was not linted, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a lint: what was found, in the order of files and lines; what was read and what was not.

    `linters` are the linters that ran, `rules` all of their rules with the linter's name, in a fixed order.
    """

    findings: tuple[Diagnostic, ...]
    files: int
    skipped: tuple[Skipped, ...]
    linters: tuple[str, ...]
    rules: Mapping[tuple[str, str], Rule]

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors
