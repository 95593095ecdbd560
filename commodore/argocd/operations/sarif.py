"""Dangers and diagnostics as a SARIF log, each at the file and line of its subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from commodore.argocd.comparing import Difference
from commodore.base.diagnostics import Diagnostic, Severity, Subject
from commodore.base.errors import Location
from commodore.base.sarif import sarif_log
from commodore.core.review import FLAGS
from commodore.core.review import Severity as Danger

_SEVERITIES: dict[Danger, Severity] = {"critical": "error", "high": "error", "medium": "warning"}


def as_sarif(diagnostics: Iterable[Diagnostic], root: Path, difference: Difference | None = None) -> str:
    """Return diagnostics, and the dangers of a difference, as a SARIF log.

    Args:
        root: the root of the repository.
    """
    return sarif_log([*diagnostics, *(_dangers(difference) if difference is not None else ())], root)


def _dangers(difference: Difference) -> Iterator[Diagnostic]:
    places = {}
    for verdict in difference.applications:
        for defined in (verdict.old, verdict.new):
            if defined is not None:
                places[verdict.name] = defined.place
    for flag in difference.review.flags:
        place = places.get(flag.source)
        yield Diagnostic(
            flag.name,
            f"{flag.key}: {flag.message}" + (f" ({flag.source})" if flag.source else ""),
            _SEVERITIES[FLAGS[flag.name]],
            subject=Subject(object=flag.key),
            locations=(Location(place.place, place.line),) if place is not None else (),
        )
