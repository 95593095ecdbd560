"""A report for machines: JSON, SARIF 2.1.0, and commands for GitHub Actions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from commodore import __version__
from commodore.inventory.lint.model import Finding, Report

_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""All but tabs and line breaks, which GitHub takes as escapes."""


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
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)


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
    rules = list(report.rules)
    log = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "commodore",
                        "version": __version__,
                        "rules": [
                            {
                                "id": f"{linter}/{rule.id}",
                                "shortDescription": {"text": rule.summary.replace("`", "'")},
                                "defaultConfiguration": {"level": rule.severity},
                            }
                            for (linter, _), rule in report.rules.items()
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(finding, rules.index((finding.linter, finding.rule))) for finding in report.findings
                ],
            }
        ],
    }
    return json.dumps(log, indent=2, sort_keys=True, ensure_ascii=False)


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.file)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }
    if finding.parameter:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.parameter, "kind": "member"}]
    text = f"{finding.message}. {finding.hint}" if finding.hint else finding.message
    return {
        "ruleId": f"{finding.linter}/{finding.rule}",
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [location],
    }


def _uri(file: str) -> str:
    path, here = Path(file).absolute(), Path.cwd()
    if path.is_relative_to(here) and ".." not in path.parts:
        return quote(path.relative_to(here).as_posix())
    return f"file://{quote(path.as_posix())}"


def _data(text: str) -> str:
    return _CONTROL.sub("", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
