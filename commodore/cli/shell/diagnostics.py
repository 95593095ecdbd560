"""Diagnostics as lines for people, in the same words for every command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from commodore.base.diagnostics import Diagnostic, Severity, by_cause
from commodore.base.printable import printable, printable_lines, some_of

STYLES: dict[Severity, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
    "boundary": {"fg": "cyan"},
    "info": {"fg": "white"},
}


def texts_of(diagnostic: Diagnostic, *, label: str = "", note: str = "") -> Iterator[str]:
    """The lines without colours: label, subject, message and code; the places; the hint.

    Args:
        label: what the first line begins with; by default the severity.
        note: what it ends with.
    """
    about = diagnostic.subject.name
    about += f", source {diagnostic.subject.source}" if diagnostic.subject.source is not None else ""
    times = f" ({diagnostic.count} times)" if diagnostic.count > 1 else ""
    subject = f"{printable(about)}: " if about else ""
    yield f"{label or diagnostic.severity}: {subject}{diagnostic.message}{times} [{diagnostic.code}]{note}"
    for place in diagnostic.locations:
        yield f"  at {printable(str(place))}"
    if diagnostic.hint:
        yield f"  hint: {diagnostic.hint}"


def diagnostic_lines(diagnostic: Diagnostic, *, label: str = "", note: str = "") -> Iterator[str]:
    """The same with colours, and without what steers a terminal."""
    head, *rest = map(printable_lines, texts_of(diagnostic, label=label, note=note))
    shown = label or diagnostic.severity
    yield click.style(shown, **STYLES[diagnostic.severity]) + head.removeprefix(shown)
    yield from rest


def compact_lines(diagnostic: Diagnostic, about: str = "") -> Iterator[str]:
    """A diagnostic on one line that begins with its place, as compilers write it, and a line for its hint.

    Nothing in it can pass for another one.

    Args:
        about: what the message is about.
    """
    severity = click.style(diagnostic.severity, **{**STYLES[diagnostic.severity], "bold": True})
    place = "".join(f"{printable(str(place))}: " for place in diagnostic.locations[:1])
    subject = f"{printable(about)}: " if about else ""
    yield f"{place}{severity}: {subject}{_one_line(diagnostic.message)} [{diagnostic.code}]"
    if diagnostic.hint:
        yield f"  hint: {_one_line(diagnostic.hint)}"


def _one_line(text: str) -> str:
    return printable(" ".join(text.splitlines()))


_FEW = 3


def grouped(shown: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Diagnostics to show, of many with one cause the first, each with a further line that counts the others."""
    for same in by_cause(shown):
        if len(same) <= _FEW:
            yield from ((item, "") for item in same)
        else:
            yield same[0], _others(same[1:])


def _others(others: Sequence[Diagnostic]) -> str:
    subjects = [*dict.fromkeys(other.subject.name for other in others)]
    named = f": {some_of(subjects)}" if all(subjects) else ""
    return f"  and {len(others)} more of this cause{named} (--diagnostics all shows each)"
