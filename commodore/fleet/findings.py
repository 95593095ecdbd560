"""What is found wrong or remarkable in a fleet, collected so that a run tells all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from commodore.base.errors import CommodoreError, InputError, Location, raise_all
from commodore.base.events import Announce, Noted, Warned
from commodore.base.printable import NAMES_SHOWN, counted, printable, some_of


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth knowing that is neither wrong nor dangerous: a note."""

    code: str
    message: str
    hint: str = ""


@dataclass(slots=True)
class Report:
    """What was found. Each message stands once, however many places find it.

    Args:
        strict: warnings count as errors.
    """

    strict: bool = False
    errors: list[CommodoreError] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)

    def add(self, *found: CommodoreError | Warned | Finding) -> None:
        """Add what was found."""
        for one in found:
            if isinstance(one, CommodoreError):
                self.errors.append(one)
            elif isinstance(one, Finding):
                if one not in self.notes:
                    self.notes.append(one)
            elif self.strict:
                self.errors.append(InputError(one.code, one.message, hint=one.hint))
            elif one not in self.warnings:
                self.warnings.append(one)

    def tell(self, announce: Announce) -> None:
        """Announce warnings and notes."""
        for warning in self.warnings:
            announce(warning)
        for note in self.notes:
            announce(Noted(f"note: {note.message} [{note.code}]" + (f"; {note.hint}" if note.hint else "")))

    def check(self) -> None:
        """Raise the errors, if there are any.

        Raises:
            CommodoreError: one of them, or all as `Findings`.
        """
        raise_all(self.errors)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready data."""
        lighter: list[tuple[str, Sequence[Warned | Finding]]] = [("warnings", self.warnings), ("notes", self.notes)]
        return {
            "errors": [error.as_dict() for error in self.errors],
            **{
                name: [{"code": one.code, "message": one.message, "hint": one.hint} for one in found]
                for name, found in lighter
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


def kind_of(value: object) -> str:
    """What a value is, in words."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a text", dict: "a map", list: "a list"}
    return kinds.get(type(value), "a date")


def pointer(path: Sequence[object]) -> str:
    """A path in a file as JSON Pointer; `/` for the whole file."""
    return "/" + "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in path)


def dotted(path: Sequence[object]) -> str:
    """A path in values, for people."""
    return ".".join(printable(str(step)) for step in path)


def cells_in_words(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """Some cells of many."""
    return f"{counted(len(names), 'cell')} ({some_of(names, most)})"


def at(location: Location) -> str:
    """A place within a message."""
    return printable(str(location))
