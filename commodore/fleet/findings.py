"""Findings about a fleet as data, and the words that their messages are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commodore.base.diagnostics import Diagnostics, Severity
from commodore.base.errors import Location
from commodore.base.printable import NAMES_SHOWN, counted, printable, some_of


def by_severity(found: Diagnostics) -> dict[str, Any]:
    """All of it as JSON-ready data: errors, warnings and notes."""
    lighter: tuple[tuple[str, Severity], ...] = (("warnings", "warning"), ("notes", "info"))
    return {
        "errors": [one.as_error().as_dict() for one in found.added("error")],
        **{
            name: [{"code": one.code, "message": one.message, "hint": one.hint} for one in found.added(severity)]
            for name, severity in lighter
        },
    }


_SHOWN = 80


def shown(value: object) -> str:
    """A value of a file in a message: short, on one line, without control characters."""
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
    """A path in values, for people."""
    return ".".join(printable(str(step)) for step in path)


def cells_in_words(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """Some cells of many."""
    return f"{counted(len(names), 'cell')} ({some_of(names, most)})"


def at(location: Location) -> str:
    """A place within a message."""
    return printable(str(location))
