"""Findings about a fleet as data, and texts for their messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, Location
from commodore.base.printable import NAMES_SHOWN, counted, printable, some_of


@dataclass(frozen=True, slots=True)
class FindingsRecord:
    """Errors, warnings and notes about a fleet."""

    errors: Sequence[CommodoreError]
    warnings: Sequence[Diagnostic]
    notes: Sequence[Diagnostic]


def by_severity(report: Diagnostics) -> FindingsRecord:
    """Return all findings as a JSON record."""
    errors = [entry.as_error() for entry in report.added("error")]
    return FindingsRecord(errors, report.added("warning"), report.added("info"))


_SHOWN = 80


def shown(value: object) -> str:
    """Format a value of a file for a message: short, on one line, without control characters."""
    text = printable(_compact(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _compact(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_compact(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_compact, value)) + "]"
    return repr(value) if isinstance(value, str) else str(value)


def dotted(path: Sequence[object]) -> str:
    """Format a path in values."""
    return ".".join(printable(str(step)) for step in path)


def cells_in_words(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """Format the first of many cells."""
    return f"{counted(len(names), 'cell')} ({some_of(names, most)})"


def at(location: Location) -> str:
    """Format a place within a message."""
    return printable(str(location))
