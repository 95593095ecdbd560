"""A report for machines: JSON, SARIF 2.1.0, and commands for GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.printable import printable_lines
from commodore.base.sarif import sarif_log
from commodore.core.inventory.lint.model import Report


def as_json(report: Report) -> str:
    """The report as one JSON document: `findings`, `skipped`, counts, and the linters that ran."""
    document = {
        "errors": report.errors,
        "files": report.files,
        "findings": list(map(_record, report.findings)),
        "linters": list(report.linters),
        "skipped": [{"file": one.file, "reason": one.reason} for one in report.skipped],
        "warnings": report.warnings,
    }
    return json.dumps(document, indent=2, sort_keys=True)


def as_github(report: Report) -> Iterator[str]:
    """One workflow command per finding; GitHub shows it beside the line.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
    """
    for finding in report.findings:
        place = finding.locations[0]
        properties = {"file": place.place, "line": place.line, "col": place.column, "title": finding.code}
        named = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
        yield f"::{finding.severity} {named}::{_data(text)}"


def as_sarif(report: Report) -> str:
    """The report as a SARIF 2.1.0 log with one run, as code scanning takes it.

    Files are relative to the current directory, which should be the repository's root; others by absolute URI.
    """
    rules = [
        Rule(f"{linter}/{rule.id}", rule.severity, rule.summary.replace("`", "'"))
        for (linter, _), rule in report.rules.items()
    ]
    return sarif_log(report.findings, Path.cwd(), rules, kind="member")


def _record(finding: Diagnostic) -> dict[str, Any]:
    """A finding as JSON-ready data."""
    (linter, _, rule), place = finding.code.partition("/"), finding.locations[0]
    return {
        "linter": linter,
        "rule": rule,
        "severity": finding.severity,
        "message": finding.message,
        "file": place.place,
        "line": place.line,
        "column": place.column,
        "parameter": finding.subject.object,
        "hint": finding.hint,
    }


def _data(text: str) -> str:
    return printable_lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
