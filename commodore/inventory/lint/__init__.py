"""Lint of a hierarchy: look at class files alone, without a cluster and without rendering anything."""

from commodore.inventory.lint.formats import as_github, as_json, as_sarif
from commodore.inventory.lint.model import Finding, Report, Rule, Severity, Skipped
from commodore.inventory.lint.run import ALIASES, ALL, LINTERS, LintRequest, lint, select_linters

__all__ = [
    "ALIASES",
    "ALL",
    "LINTERS",
    "Finding",
    "LintRequest",
    "Report",
    "Rule",
    "Severity",
    "Skipped",
    "as_github",
    "as_json",
    "as_sarif",
    "lint",
    "select_linters",
]
