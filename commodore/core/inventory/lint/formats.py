"""A report for machines: JSON, SARIF 2.1.0, and commands for GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from commodore.base.printable import printable_lines
from commodore.base.sarif import Result, Rule, sarif_log
from commodore.core.inventory.lint.model import Finding, Report


def as_json(report: Report) -> str:
    """The report as one JSON document: `findings`, `skipped`, counts, and the linters that ran."""
    document = {
        "errors": report.errors,
        "files": report.files,
        "findings": [finding.as_dict() for finding in report.findings],
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
        properties = {
            "file": finding.file,
            "line": finding.line,
            "col": finding.column,
            "title": f"{finding.linter}/{finding.rule}",
        }
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
    return sarif_log(rules, map(_result, report.findings), Path.cwd())


def _result(finding: Finding) -> Result:
    return Result(
        f"{finding.linter}/{finding.rule}",
        finding.severity,
        f"{finding.message}. {finding.hint}" if finding.hint else finding.message,
        finding.file,
        finding.line,
        finding.column,
        finding.parameter,
    )


def _data(text: str) -> str:
    return printable_lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
