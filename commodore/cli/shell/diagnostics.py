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


def texts_of(one: Diagnostic, *, label: str = "", note: str = "") -> Iterator[str]:
    """The lines without colours: label, subject, message and code; the places; the hint.

    Args:
        label: what the first line begins with; by default the severity.
        note: what it ends with.
    """
    about = one.subject.name
    about += f", source {one.subject.source}" if one.subject.source is not None else ""
    times = f" ({one.count} times)" if one.count > 1 else ""
    yield f"{label or one.severity}: {f'{printable(about)}: ' if about else ''}{one.message}{times} [{one.code}]{note}"
    for place in one.locations:
        yield f"  at {printable(str(place))}"
    if one.hint:
        yield f"  hint: {one.hint}"


def diagnostic_lines(one: Diagnostic, *, label: str = "", note: str = "") -> Iterator[str]:
    """The same with colours, and without what steers a terminal."""
    head, *rest = map(printable_lines, texts_of(one, label=label, note=note))
    shown = label or one.severity
    yield click.style(shown, **STYLES[one.severity]) + head.removeprefix(shown)
    yield from rest


def compact_lines(one: Diagnostic, about: str = "") -> Iterator[str]:
    """A diagnostic on one line that begins with its place, as compilers write it, and a line for its hint.

    Nothing in it can pass for another one.

    Args:
        about: what the message is about.
    """
    severity = click.style(one.severity, **{**STYLES[one.severity], "bold": True})
    place = "".join(f"{printable(str(place))}: " for place in one.locations[:1])
    yield f"{place}{severity}: {f'{printable(about)}: ' if about else ''}{_one_line(one.message)} [{one.code}]"
    if one.hint:
        yield f"  hint: {_one_line(one.hint)}"


def _one_line(text: str) -> str:
    return printable(" ".join(text.splitlines()))


_FEW = 3


def grouped(shown: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Diagnostics to show, of many with one cause the first, each with a further line that counts the others."""
    for same in by_cause(shown):
        if len(same) <= _FEW:
            yield from ((one, "") for one in same)
        else:
            yield same[0], _others(same[1:])


def _others(others: Sequence[Diagnostic]) -> str:
    subjects = [*dict.fromkeys(one.subject.name for one in others)]
    named = f": {some_of(subjects)}" if all(subjects) else ""
    return f"  and {len(others)} more of this cause{named} (--diagnostics all shows each)"
