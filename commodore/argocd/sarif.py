"""Dangers and diagnostics as a SARIF log: each at the file and line that define what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from commodore.argocd.comparing import Difference
from commodore.base.diagnostics import Diagnostic, Severity
from commodore.base.printable import printable
from commodore.base.sarif import Level, Result, Rule, sarif_log
from commodore.core.review.object_diff import FLAGS, Flag
from commodore.core.review.object_diff import Severity as Danger

_LEVELS: dict[Severity, Level] = {"error": "error", "warning": "warning", "boundary": "note", "info": "note"}
_OF_DANGERS: dict[Danger, Level] = {"critical": "error", "high": "error", "medium": "warning"}


def as_sarif(diagnostics: Iterable[Diagnostic], root: Path, difference: Difference | None = None) -> str:
    """What was found, and the dangers of a difference.

    Args:
        root: the root of the repository.
    """
    results = [*map(_finding, diagnostics), *(_dangers(difference) if difference is not None else ())]
    rules = {one.rule: Rule(one.rule, one.level) for one in results}
    return sarif_log((rules[name] for name in sorted(rules)), results, root)


def _finding(one: Diagnostic) -> Result:
    place = one.locations[0] if one.locations else None
    text = f"{one.message}. {one.hint}" if one.hint else one.message
    about = str(one.subject.object) or one.subject.name
    return Result(
        one.code,
        _LEVELS[one.severity],
        printable(text),
        place.place if place is not None else "",
        place.line if place is not None else None,
        place.column if place is not None else None,
        printable(about),
        "object",
    )


def _dangers(difference: Difference) -> Iterator[Result]:
    places = {}
    for verdict in difference.applications:
        for defined in (verdict.old, verdict.new):
            if defined is not None:
                places[verdict.name] = defined.place
    for flag in difference.review.flags:
        place = places.get(flag.source)
        yield Result(
            flag.name,
            _OF_DANGERS[FLAGS[flag.name]],
            _message(flag),
            place.place if place is not None else "",
            place.line if place is not None else None,
            None,
            printable(str(flag.key)),
            "object",
        )


def _message(flag: Flag) -> str:
    return printable(f"{flag.key}: {flag.message}" + (f" ({flag.source})" if flag.source else ""))
