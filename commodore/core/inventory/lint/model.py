"""What a lint says: findings of rules, files that were left out, and the report with all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]
"""An `error` is wrong whatever other files say. A `warning` may be right if a file says so that was not linted."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a linter looks for. `id` is stable: users name it in other tools."""

    id: str
    severity: Severity
    summary: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a rule has found.

    `file` is the path as the user would write it; `line` and `column` count from one (columns in characters);
    `parameter` is the path of the field in the file (`parameters.a.b[0]`), empty where there is none.
    """

    linter: str
    rule: str
    severity: Severity
    message: str
    file: str
    line: int
    column: int
    parameter: str = ""
    hint: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready data."""
        return asdict(self)


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

    findings: tuple[Finding, ...]
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
