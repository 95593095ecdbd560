"""What is seen while something is read or judged, without ending it: one list, in order, with equal entries once."""

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
"""`boundary` is a limit of working without a cluster."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "boundary", "info")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a diagnostic concerns; each field is empty if there is nothing of that kind.

    Attributes:
        application: an Application, as `namespace/name`.
        set: an ApplicationSet.
        source: the number of the Application's source, or the instance of a catalog, that gives the object.
        object: a Kubernetes object, by its key or in words; the path of a field in a file that holds no objects.
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
    """A diagnostic as documents for machines show it; see `Diagnostic` and `Subject`."""

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
    """One finding.

    Attributes:
        code: a stable code, `CMD-<ROOM>-<NNN>` or the name of a rule.
        message: one sentence that names the thing and says what was expected. It may hold text of files, which is not
            safe to print.
        family: the family of the error; empty for other severities.
        locations: the places concerned, most important first.
        escalated: whether it is an error only because the user asked for strictness.
        before: whether it was found before the change of a comparison, too.
        count: the number of equal findings that it stands for.
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
        """An error as a diagnostic; see `Diagnostics.take`."""
        locations = error.locations or ((place,) if place else ())
        return cls(error.code, error.message, "error", error.hint, error.family, subject, locations)

    @property
    def actionable(self) -> bool:
        """Whether it is worth a line without being asked for."""
        return self.severity != "info"

    def lowered(self, severity: Severity = "warning") -> Diagnostic:
        """An error with a lower severity; others as they are."""
        return replace(self, severity=severity, family="") if self.severity == "error" else self

    def escalate(self) -> Diagnostic:
        """A warning or a boundary as an error; others as they are."""
        if self.severity in ("error", "info"):
            return self
        return replace(self, severity="error", family="input", escalated=True)

    def as_error(self) -> CommodoreError:
        """The diagnostic as an error of its family."""
        return _FAMILIES[self.family](self.code, self.message, hint=self.hint, locations=self.locations)

    def as_warning(self) -> Warned:
        """The diagnostic as a warning that is announced."""
        about = f"Application {self.subject.application}: " if self.subject.application else ""
        return Warned(self.code, f"{about}{self.message}", self.hint)

    def as_note(self) -> Noted:
        """The diagnostic as a note that is announced."""
        return Noted(f"note: {self.message} [{self.code}]" + (f"; {self.hint}" if self.hint else ""))

    def as_plain(self) -> DiagnosticRecord:
        """The diagnostic for machines; see `commodore.base.documents.plain`."""
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
            tuple(Location(one.place, one.line, one.column) for one in self.locations),
            self.escalated,
            self.before,
            self.count,
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that diagnostics are about. `id` is stable: users name it in other tools. `summary` may be empty."""

    id: str
    severity: Severity
    summary: str = ""


class _Every:
    def __contains__(self, _: object) -> bool:
        return True


EVERY: Container[str] = _Every()
"""All codes."""


class Diagnostics:
    """Collects diagnostics, from several threads if need be.

    Args:
        strict: the codes of warnings and boundaries that count as errors.
    """

    def __init__(self, strict: Container[str] = ()) -> None:
        self._strict = strict
        self._found: list[Diagnostic] = []
        self._lock = threading.Lock()

    def add(self, *found: Diagnostic | CommodoreError | Warned) -> None:
        """Take diagnostics in, and what becomes a diagnostic; of `Findings` each error by itself."""
        for one in found:
            if isinstance(one, CommodoreError):
                self.take(one)
                continue
            if isinstance(one, Warned):
                one = Diagnostic(one.code, one.message, "warning", one.hint)
            with self._lock:
                self._found.append(one)

    def join(self, others: Diagnostics, change: Callable[[Diagnostic], Diagnostic] = lambda one: one) -> None:
        """Take all of another collection in.

        Args:
            change: gives what is taken in for each.
        """
        self.add(*map(change, others._found))

    def take(self, error: CommodoreError, subject: Subject = NOTHING, *, place: Location | None = None) -> None:
        """Take an error in; of `Findings` each error by itself.

        Args:
            place: where the subject is, for errors that name no place, such as those of a fetch.
        """
        for one in error.errors if isinstance(error, Findings) else (error,):
            self.add(Diagnostic.of(one, subject, place))

    def found(self) -> tuple[Diagnostic, ...]:
        """All diagnostics by severity, code, subject and place; equal ones once, with their number."""
        return tuple(_folded(sorted(self._judged(), key=_order)))

    def added(self, *severities: Severity) -> list[Diagnostic]:
        """The diagnostics of some severities, or all, in the order in which they were added; equal ones once."""
        return list(dict.fromkeys(one for one in self._judged() if not severities or one.severity in severities))

    def announce(self, announce: Announce) -> None:
        """Announce the warnings, then the notes."""
        for one in self.added("warning"):
            announce(one.as_warning())
        for one in self.added("info"):
            announce(one.as_note())

    def raise_errors(self) -> None:
        """Raise the errors, if there are any.

        Raises:
            CommodoreError: one of them, or all as `Findings`.
        """
        raise_all([one.as_error() for one in self.added("error")])

    def _judged(self) -> list[Diagnostic]:
        with self._lock:
            found = list(self._found)
        return [one.escalate() if one.code in self._strict else one for one in found]


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
    for subject in filter(None, (one.subject.application, one.subject.set, str(one.subject.object))):
        name = subject.rpartition("/")[2]
        message = re.sub(rf"(?<![\w-])(?:{re.escape(subject)}|{re.escape(name)})(?![\w-])", "", message)
    return message


def _order(one: Diagnostic) -> tuple[Any, ...]:
    places = [(place.place, place.line or 0, place.column or 0) for place in one.locations]
    subject, number = one.subject, one.subject.source if isinstance(one.subject.source, int) else 0
    within = (number, str(subject.source), places, str(subject.object))
    return SEVERITIES.index(one.severity), one.code, subject.application, subject.set, *within, one.message


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
