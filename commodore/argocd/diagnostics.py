"""What is found while a repository is analysed, without ending the analysis: one list, sorted, equal ones together."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from commodore.base.errors import CommodoreError, Findings, Location

Severity = Literal["error", "warning", "boundary", "info"]
"""`boundary` is a limit of working without a cluster."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "boundary", "info")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: stable code, `CMD-ARGO-<NNN>` mostly.
        message: one sentence that names the thing and says what was expected.
        family: the family of the error that it is; empty if it is none.
        application: what it concerns, as `namespace/name`; empty if nothing of that kind, as the next ones.
        object: the Kubernetes object that it concerns.
        escalated: whether it is an error only because `--strict` was given.
        before: whether it was found before the change of a comparison, too.
        count: how many equal ones it stands for.
    """

    code: str
    message: str
    severity: Severity
    hint: str = ""
    family: str = ""
    application: str = ""
    set: str = ""
    source: int | None = None
    object: str = ""
    locations: tuple[Location, ...] = ()
    escalated: bool = False
    before: bool = False
    count: int = 1

    @property
    def actionable(self) -> bool:
        """Whether it is worth a line without being asked for."""
        return self.severity != "info"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data, keys in a fixed order."""
        return {
            "code": self.code,
            "severity": self.severity,
            "family": self.family,
            "message": self.message,
            "hint": self.hint,
            "application": self.application,
            "set": self.set,
            "source": self.source,
            "object": self.object,
            "locations": [{"place": one.place, "line": one.line, "column": one.column} for one in self.locations],
            "escalated": self.escalated,
            "before": self.before,
            "count": self.count,
        }


def is_partial(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether something failed, or an ApplicationSet cannot be expanded, so that there may be more than is known."""
    return any(one.severity == "error" or (one.severity == "boundary" and one.set) for one in diagnostics)


class Diagnostics:
    """Collects diagnostics, from several threads if need be."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._lock = threading.Lock()

    def add(self, diagnostic: Diagnostic) -> None:
        """Take one in."""
        with self._lock:
            self._found.append(diagnostic)

    def join(self, others: Diagnostics, change: Callable[[Diagnostic], Diagnostic] = lambda one: one) -> None:
        """Take all of another collection in.

        Args:
            change: gives what is taken in for each.
        """
        for one in others._found:
            self.add(change(one))

    def take(
        self,
        error: CommodoreError,
        *,
        application: str = "",
        set_: str = "",
        place: Location | None = None,
    ) -> None:
        """Take an error in, each of several ones by itself.

        Args:
            place: where the Application or the set is, for errors that name no place, such as those of a fetch.
        """
        for one in error.errors if isinstance(error, Findings) else (error,):
            self.add(diagnostic_of(one, application=application, set_=set_, place=place))

    def found(self, *, strict: bool = False) -> tuple[Diagnostic, ...]:
        """What was found, by severity, code, application and place; equal ones once, with their number.

        Args:
            strict: make errors of those whose code says that something could not be honoured (`STRICT`), but for what
                merely informs.
        """
        with self._lock:
            found = list(self._found)
        if strict:
            found = [_escalated(one) for one in found]
        return tuple(_folded(sorted(found, key=_order)))


def diagnostic_of(
    error: CommodoreError, *, application: str = "", set_: str = "", place: Location | None = None
) -> Diagnostic:
    """An error as a diagnostic; see `Diagnostics.take`."""
    return Diagnostic(
        code=error.code,
        severity="error",
        message=error.message,
        hint=error.hint,
        family=error.family,
        application=application,
        set=set_,
        locations=error.locations or ((place,) if place else ()),
    )


_FIELD = re.compile(r"\b(?:metadata|spec)(?:\.\w+|\[\d+\])+")


def by_cause(found: Iterable[Diagnostic]) -> list[tuple[Diagnostic, ...]]:
    """Diagnostics of one cause together: they differ in nothing but their subject, its field and place.

    The causes are in the order of their first diagnostics, those of before a change last.
    """
    causes: dict[Any, list[Diagnostic]] = {}
    for one in found:
        causes.setdefault((one.before, one.severity, one.code, one.hint, _without_subject(one)), []).append(one)
    return [tuple(same) for _, same in sorted(causes.items(), key=lambda cause: cause[0][0])]


def _without_subject(one: Diagnostic) -> str:
    message = _FIELD.sub("", one.message)
    for subject in filter(None, (one.application, one.set, one.object)):
        name = subject.rpartition("/")[2]
        message = re.sub(rf"(?<![\w-])(?:{re.escape(subject)}|{re.escape(name)})(?![\w-])", "", message)
    return message


def lowered(one: Diagnostic, severity: Severity = "warning") -> Diagnostic:
    """An error as what is no error; others as they are."""
    return replace(one, severity=severity, family="") if one.severity == "error" else one


_STRICT = (
    9, 11, 104, 105, 107, 108, 110, 120, 121, 127, 201, 202, 204, 210, 215, 216, 220, 319, 321, 322, 414,
    415, 421, 426, 501, 505, 506, 507, 601, 602, 603, 604, 605, 607, 701, 704, 705, 707, 801, 910,
)  # fmt: skip
STRICT = frozenset(f"CMD-ARGO-{number:03d}" for number in _STRICT)
"""The codes that are errors with `--strict`."""


def _escalated(one: Diagnostic) -> Diagnostic:
    if one.code not in STRICT or one.severity in ("error", "info"):
        return one
    return replace(one, severity="error", family="input", escalated=True)


def _order(one: Diagnostic) -> tuple[Any, ...]:
    places = [(place.place, place.line or 0, place.column or 0) for place in one.locations]
    rank = SEVERITIES.index(one.severity)
    return rank, one.code, one.application, one.set, one.source or 0, places, one.object, one.message


def _folded(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    last: Diagnostic | None = None
    for one in found:
        if last is not None and replace(last, count=1) == one:
            last = replace(last, count=last.count + 1)
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last
