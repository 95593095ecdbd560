"""The one error tree of the program.

::

    CommodoreError              code, message, hint, locations; an exit code per family
    |-- InputError        (1)   files, hierarchy, flags: their author must act
    |-- UsageError        (2)   the command line itself
    |-- EnvironmentFault  (3)   network, git, disk, tools: the machine's operator must act
    |   `-- Refused             the rules of a server: another attempt would be refused, too
    |-- PolicyError       (4)   refused for safety: nothing was changed
    |-- NotReady         (5)    nothing is wrong: something else has to be ready first, so nothing was done
    |-- InternalError    (70)   a bug in commodore
    `-- Findings                several errors of one stage, reported together

Codes are stable (``CMD-<ROOM>-<NNN>``) and each has a section in ``docs/reference/errors``. Errors are rendered in one
place, ``commodore.cli.shell.console``; nothing here prints.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Location:
    """Where an error is: a file, class, parameter path or URL, with a one-based line and column when known."""

    place: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        text = self.place
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        return text

    def at(self, _path: str = "") -> Location:
        """The location of a field of what is there, by the field's path; the same where fields have none."""
        return self

    def below(self, _path: str) -> Location:
        """The same, as what paths of fields begin below. It is looked for when an error has it."""
        return self


@dataclass(frozen=True, slots=True)
class Setting(Location):
    """Something that the hierarchy sets. `commodore.core.inventory.explain.locate_settings` finds the files and lines.

    Args:
        path: keys and indexes of a parameter; empty for an entry of `applications`.
        entry: an entry of `applications`, or the component that entries begin with.
        target: the target of the inventory in which it counts.
    """

    path: tuple[Any, ...] = ()
    entry: str = ""
    target: str = "cluster"

    @classmethod
    def of(cls, *path: Any) -> Setting:
        """A parameter, as the whole cluster sees it."""
        return cls(".".join(("parameters", *map(str, path))), path=path)

    @classmethod
    def included(cls, entry: str) -> Setting:
        """An entry of `applications`."""
        return cls(f"applications: {entry}", entry=entry)


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error as documents for machines show it; see `CommodoreError`."""

    code: str
    family: str
    message: str
    hint: str
    locations: tuple[Location, ...]


class CommodoreError(Exception):
    """An error a user can act on.

    Args:
        code: stable code, ``CMD-<ROOM>-<NNN>``.
        message: one sentence that names the thing and says what was expected. No trailing full stop.
        hint: what to do about it, or an empty string.
        locations: the places concerned, most important first.
    """

    exit_code = 1
    family = "error"

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        locations: Sequence[Location | str] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.locations: tuple[Location, ...] = tuple(
            loc.at() if isinstance(loc, Location) else Location(loc) for loc in locations
        )

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process borders (workers), so they pickle with all their fields."""
        return _rebuild, (type(self), self.code, self.message, self.hint, self.locations)

    def about(
        self, subject: str = "", *, at: Sequence[Location | str] = (), first: Sequence[Location | str] = ()
    ) -> CommodoreError:
        """The same error with its message put under a subject, and with further places after and before its own."""
        message = f"{subject}: {self.message}" if subject else self.message
        return type(self)(self.code, message, hint=self.hint, locations=[*first, *self.locations, *at])

    def hinting(self, advice: str) -> CommodoreError:
        """The same error with further advice after its hint."""
        hint = "; ".join(filter(None, (self.hint, advice)))
        return type(self)(self.code, self.message, hint=hint, locations=self.locations)

    def as_plain(self) -> ErrorRecord:
        """The error for machines; see `commodore.base.documents.plain`."""
        places = tuple(Location(one.place, one.line, one.column) for one in self.locations)
        return ErrorRecord(self.code, self.family, self.message, self.hint, places)


class InputError(CommodoreError):
    """Something that a user wrote is wrong: a file, the hierarchy, a flag's value."""

    exit_code = 1
    family = "input"


class UsageError(CommodoreError):
    """The command line does not make sense."""

    exit_code = 2
    family = "usage"


class EnvironmentFault(CommodoreError):
    """The surroundings failed: network, git, disk, an external tool."""

    exit_code = 3
    family = "environment"


class Refused(EnvironmentFault):
    """Refused by the rules of a server: another attempt would be refused, too."""


class PolicyError(CommodoreError):
    """Refused for safety; nothing was changed."""

    exit_code = 4
    family = "policy"


class NotReady(CommodoreError):
    """Nothing is wrong, and nothing was done: something else is not ready yet."""

    exit_code = 5
    family = "waiting"


class InternalError(CommodoreError):
    """A bug in commodore."""

    exit_code = 70
    family = "internal"


class Findings(CommodoreError):
    """Several errors found by one stage, reported together. Its exit code is the highest of its errors' codes."""

    family = "findings"

    def __init__(self, errors: Iterable[CommodoreError]) -> None:
        flat: list[CommodoreError] = []
        for error in errors:
            flat.extend(error.errors if isinstance(error, Findings) else [error])
        flat = _each_once(flat)
        if not flat:
            raise ValueError("Findings without errors")
        self.errors: tuple[CommodoreError, ...] = tuple(flat)
        super().__init__(flat[0].code, "; ".join(error.message for error in flat))
        self.exit_code = max(error.exit_code for error in flat)

    def __reduce__(self) -> tuple[Any, ...]:
        return Findings, (self.errors,)

    def about(
        self, subject: str = "", *, at: Sequence[Location | str] = (), first: Sequence[Location | str] = ()
    ) -> CommodoreError:
        """The same errors, each of them put under the subject."""
        return Findings(error.about(subject, at=at, first=first) for error in self.errors)

    def hinting(self, advice: str) -> CommodoreError:
        """The same errors, each of them with further advice."""
        return Findings(error.hinting(advice) for error in self.errors)


def _rebuild(
    kind: type[CommodoreError], code: str, message: str, hint: str, locations: tuple[Location, ...]
) -> CommodoreError:
    return kind(code, message, hint=hint, locations=locations)


def raise_all(errors: Sequence[CommodoreError]) -> None:
    """Raise nothing, the one error, or all of them together as `Findings`.

    Raises:
        CommodoreError: when `errors` is not empty.
    """
    different = _each_once(errors)
    if len(different) == 1:
        raise different[0]
    if different:
        raise Findings(different)


def _each_once(errors: Sequence[CommodoreError]) -> list[CommodoreError]:
    """Several steps can fail for one reason, such as a missing program; users read it once."""
    return list({(error.code, error.message, error.locations): error for error in reversed(errors)}.values())[::-1]


def did_you_mean(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """A hint naming the known names closest to a misspelt one, or an empty string.

    Args:
        likeness: how close a name has to be, from 0 (anything) to 1 (the same).
    """
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=likeness)
    return f"did you mean {' or '.join(repr(match) for match in close)}?" if close else ""
