"""Lint of a hierarchy: look at class files alone, without a cluster and without rendering anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.inventory.lint.formats import as_github, as_json, as_sarif
    from commodore.core.inventory.lint.model import Report, Skipped
    from commodore.core.inventory.lint.run import ALIASES, ALL, LINTERS, LintRequest, lint, select_linters

__getattr__ = lazy_exports(
    __name__,
    {
        "formats": ("as_github", "as_json", "as_sarif"),
        "model": ("Report", "Skipped"),
        "run": ("ALIASES", "ALL", "LINTERS", "LintRequest", "lint", "select_linters"),
    },
)


__all__ = [
    "ALIASES",
    "ALL",
    "LINTERS",
    "LintRequest",
    "Report",
    "Skipped",
    "as_github",
    "as_json",
    "as_sarif",
    "lint",
    "select_linters",
]
