"""Machine-readable reports: SARIF 2.1.0, and commands for GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from commodore.base.diagnostics import Rule
from commodore.base.printable import printable_lines
from commodore.base.sarif import sarif_log
from commodore.core.inventory.lint.model import Report


def as_github(report: Report) -> Iterator[str]:
    """Yield a workflow command per finding, which GitHub shows at the line.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
    """
    for finding in report.findings:
        place = finding.locations[0]
        properties = {"file": place.place, "line": place.line, "col": place.column, "title": finding.code}
        named = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
        yield f"::{finding.severity} {named}::{_data(text)}"


def as_sarif(report: Report) -> str:
    """Return the report as a SARIF 2.1.0 log with one run, for code scanning.

    Files are relative to the current directory, which should be the repository's root; other files are absolute URIs.
    """
    rules = [
        Rule(f"{linter}/{rule.id}", rule.severity, rule.summary.replace("`", "'"))
        for (linter, _), rule in report.rules.items()
    ]
    return sarif_log(report.findings, Path.cwd(), rules, kind="member")


def _data(text: str) -> str:
    return printable_lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
