"""Diagnostics collected while inputs are read and checked, without stopping: sorted and without duplicates."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from commodore.base.errors import (
    CommodoreError,
    EnvironmentFault,
    Findings,
    InputError,
    InternalError,
    Location,
    NotReady,
    PolicyError,
    UsageError,
    raise_all,
)
from commodore.base.events import Announce, Noted, Warned

Severity = Literal["error", "warning", "boundary", "info"]
"""`boundary` marks a limit of working without a cluster."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "boundary", "info")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a diagnostic; fields that do not apply are empty.

    Attributes:
        application: an Application, as `namespace/name`.
        set: an ApplicationSet.
        source: the number of the Application's source, or the instance of a catalog, that contains the object.
        object: a Kubernetes object, by its key or as a description; the path of a field in a file without objects.
    """

    application: str = ""
    set: str = ""
    source: int | str | None = None
    object: str | tuple[str, ...] = ""

    @property
    def name(self) -> str:
        """The Application or the ApplicationSet."""
        return self.application or self.set


NOTHING = Subject()

_FAMILIES: dict[str, type[CommodoreError]] = {
    kind.family: kind for kind in (InputError, UsageError, EnvironmentFault, PolicyError, NotReady, InternalError)
}


@dataclass(frozen=True, slots=True)
class DiagnosticRecord:
    """A diagnostic in JSON documents; see `Diagnostic` and `Subject`."""

    code: str
    severity: Severity
    family: str
    message: str
    hint: str
    application: str
    set: str
    source: int | str | None
    object: str
    locations: tuple[Location, ...]
    escalated: bool
    before: bool
    count: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding.

    Attributes:
        code: a stable code, `CMD-<ROOM>-<NNN>` or the id of a rule.
        message: a sentence with the subject and the expectation. It may hold text of files, which is not safe to print.
        family: the family of the error; empty for other severities.
        locations: the affected places, the most important first.
        escalated: true for an error caused by strict mode only.
        before: true if the old side of a comparison has it, too.
        count: the number of equal findings it represents.
    """

    code: str
    message: str
    severity: Severity
    hint: str = ""
    family: str = ""
    subject: Subject = NOTHING
    locations: tuple[Location, ...] = ()
    escalated: bool = False
    before: bool = False
    count: int = 1

    @classmethod
    def of(cls, error: CommodoreError, subject: Subject = NOTHING, place: Location | None = None) -> Diagnostic:
        """Convert an error to a diagnostic; see `Diagnostics.take`."""
        locations = error.locations or ((place,) if place else ())
        return cls(error.code, error.message, "error", error.hint, error.family, subject, locations)

    @property
    def actionable(self) -> bool:
        """True if it is printed by default."""
        return self.severity != "info"

    def lowered(self, severity: Severity = "warning") -> Diagnostic:
        """Return an error with a lower severity; other diagnostics unchanged."""
        return replace(self, severity=severity, family="") if self.severity == "error" else self

    def escalate(self) -> Diagnostic:
        """Return a warning or a boundary as an error; other diagnostics unchanged."""
        if self.severity in ("error", "info"):
            return self
        return replace(self, severity="error", family="input", escalated=True)

    def as_error(self) -> CommodoreError:
        """Convert the diagnostic to an error of its family."""
        return _FAMILIES[self.family](self.code, self.message, hint=self.hint, locations=self.locations)

    def as_warning(self) -> Warned:
        """Convert the diagnostic to a warning event."""
        about = f"Application {self.subject.application}: " if self.subject.application else ""
        return Warned(self.code, f"{about}{self.message}", self.hint)

    def as_note(self) -> Noted:
        """Convert the diagnostic to a note event."""
        return Noted(f"note: {self.message} [{self.code}]" + (f"; {self.hint}" if self.hint else ""))

    def as_plain(self) -> DiagnosticRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        subject = self.subject
        return DiagnosticRecord(
            self.code,
            self.severity,
            self.family,
            self.message,
            self.hint,
            subject.application,
            subject.set,
            subject.source,
            str(subject.object),
            tuple(Location(location.place, location.line, location.column) for location in self.locations),
            self.escalated,
            self.before,
            self.count,
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of diagnostics. `id` is stable: users refer to it in other tools. `summary` may be empty."""

    id: str
    severity: Severity
    summary: str = ""


class _Every:
    def __contains__(self, _: object) -> bool:
        return True


EVERY: Container[str] = _Every()
"""All codes."""


class Diagnostics:
    """A thread-safe collection of diagnostics.

    Args:
        strict: the codes of warnings and boundaries to escalate to errors.
    """

    def __init__(self, strict: Container[str] = ()) -> None:
        self._strict = strict
        self._diagnostics: list[Diagnostic] = []
        self._lock = threading.Lock()

    def add(self, *diagnostics: Diagnostic | CommodoreError | Warned) -> None:
        """Add diagnostics, errors and warnings; each error of `Findings` by itself."""
        for diagnostic in diagnostics:
            if isinstance(diagnostic, CommodoreError):
                self.take(diagnostic)
                continue
            if isinstance(diagnostic, Warned):
                diagnostic = Diagnostic(diagnostic.code, diagnostic.message, "warning", diagnostic.hint)
            with self._lock:
                self._diagnostics.append(diagnostic)

    def join(
        self, others: Diagnostics, change: Callable[[Diagnostic], Diagnostic] = lambda diagnostic: diagnostic
    ) -> None:
        """Add all diagnostics of another collection.

        Args:
            change: a function applied to each.
        """
        self.add(*map(change, others._diagnostics))

    def take(self, error: CommodoreError, subject: Subject = NOTHING, *, place: Location | None = None) -> None:
        """Add an error; each error of `Findings` by itself.

        Args:
            place: the place of the subject, for errors without a place, such as of a fetch.
        """
        for single in error.errors if isinstance(error, Findings) else (error,):
            self.add(Diagnostic.of(single, subject, place))

    def collected(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics by severity, code, subject and place; equal ones merged, with their count."""
        return tuple(_folded(sorted(self._judged(), key=_order)))

    def added(self, *severities: Severity) -> list[Diagnostic]:
        """Return the diagnostics of some severities, or all, in the order of their addition; equal ones once."""
        return list(
            dict.fromkeys(
                diagnostic for diagnostic in self._judged() if not severities or diagnostic.severity in severities
            )
        )

    def announce(self, announce: Announce) -> None:
        """Announce the warnings, then the notes."""
        for diagnostic in self.added("warning"):
            announce(diagnostic.as_warning())
        for diagnostic in self.added("info"):
            announce(diagnostic.as_note())

    def raise_errors(self) -> None:
        """Raise the errors, if any.

        Raises:
            CommodoreError: one of them, or all as `Findings`.
        """
        raise_all([error.as_error() for error in self.added("error")])

    def _judged(self) -> list[Diagnostic]:
        with self._lock:
            diagnostics = list(self._diagnostics)
        return [diagnostic.escalate() if diagnostic.code in self._strict else diagnostic for diagnostic in diagnostics]


_FIELD = re.compile(r"\b(?:metadata|spec)(?:\.\w+|\[\d+\])+")


def by_cause(diagnostics: Iterable[Diagnostic]) -> list[tuple[Diagnostic, ...]]:
    """Group diagnostics with the same cause: they differ only in their subject, its field and place.

    The groups are in the order of their first diagnostics, those of the old side of a comparison last.
    """
    causes: dict[Any, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        causes.setdefault(
            (diagnostic.before, diagnostic.severity, diagnostic.code, diagnostic.hint, _without_subject(diagnostic)), []
        ).append(diagnostic)
    return [tuple(same) for _, same in sorted(causes.items(), key=lambda cause: cause[0][0])]


def _without_subject(diagnostic: Diagnostic) -> str:
    message = _FIELD.sub("", diagnostic.message)
    for subject in filter(
        None, (diagnostic.subject.application, diagnostic.subject.set, str(diagnostic.subject.object))
    ):
        name = subject.rpartition("/")[2]
        message = re.sub(rf"(?<![\w-])(?:{re.escape(subject)}|{re.escape(name)})(?![\w-])", "", message)
    return message


def _order(diagnostic: Diagnostic) -> tuple[Any, ...]:
    places = [(place.place, place.line or 0, place.column or 0) for place in diagnostic.locations]
    subject, number = diagnostic.subject, diagnostic.subject.source if isinstance(diagnostic.subject.source, int) else 0
    within = (number, str(subject.source), places, str(subject.object))
    return (
        SEVERITIES.index(diagnostic.severity),
        diagnostic.code,
        subject.application,
        subject.set,
        *within,
        diagnostic.message,
    )


def _folded(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    last: Diagnostic | None = None
    for diagnostic in diagnostics:
        if last is not None and replace(last, count=1) == diagnostic:
            last = replace(last, count=last.count + 1)
            continue
        if last is not None:
            yield last
        last = diagnostic
    if last is not None:
        yield last
