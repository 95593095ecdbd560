"""The error classes of the program.

::

    CommodoreError              code, message, hint, locations; an exit code per family
    |-- InputError        (1)   invalid files, hierarchy or flags: to be corrected by their author
    |-- UsageError        (2)   the command line itself
    |-- EnvironmentFault  (3)   network, git, disk, tools: the machine's operator must act
    |   `-- Refused             refused by a server's rules: retrying is useless
    |-- PolicyError       (4)   refused for safety: nothing was changed
    |-- NotReady         (5)    nothing was done, since something else is not ready yet
    |-- InternalError    (70)   a bug in commodore
    `-- Findings                several errors of one stage, reported together

Codes are stable (``CMD-<ROOM>-<NNN>``) and each has a section in ``docs/reference/errors``. Errors are printed by
``commodore.cli.shell.console`` only.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Location:
    """The place of an error: a file, class, parameter path or URL, with one-based line and column if known."""

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
        """Return the location of a field, by its path; the same location if fields have none."""
        return self

    def below(self, _path: str) -> Location:
        """Return the location as the base of field paths. It is resolved when an error needs it."""
        return self


@dataclass(frozen=True, slots=True)
class Setting(Location):
    """A parameter of the hierarchy. `commodore.core.inventory.explain.locate_settings` resolves its files and lines.

    Args:
        path: keys and indexes of a parameter; empty for an entry of `applications`.
        entry: an entry of `applications`, or the component at the beginning of entries.
        target: the inventory target it applies to.
    """

    path: tuple[Any, ...] = ()
    entry: str = ""
    target: str = "cluster"

    @classmethod
    def of(cls, *path: Any) -> Setting:
        """Return a parameter as the whole cluster sees it."""
        return cls(".".join(("parameters", *map(str, path))), path=path)

    @classmethod
    def included(cls, entry: str) -> Setting:
        """Return an entry of `applications`."""
        return cls(f"applications: {entry}", entry=entry)


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error in JSON documents; see `CommodoreError`."""

    code: str
    family: str
    message: str
    hint: str
    locations: tuple[Location, ...]


class CommodoreError(Exception):
    """An error a user can act on.

    Args:
        code: stable code, ``CMD-<ROOM>-<NNN>``.
        message: a sentence with the subject and the expectation, without a full stop.
        hint: advice, or an empty string.
        locations: the affected places, the most important first.
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
        """Pickle with all fields: errors cross process borders."""
        return _rebuild, (type(self), self.code, self.message, self.hint, self.locations)

    def about(
        self, subject: str = "", *, at: Sequence[Location | str] = (), first: Sequence[Location | str] = ()
    ) -> CommodoreError:
        """Return the error with its message below a subject, and with further places after and before its own."""
        message = f"{subject}: {self.message}" if subject else self.message
        return type(self)(self.code, message, hint=self.hint, locations=[*first, *self.locations, *at])

    def hinting(self, advice: str) -> CommodoreError:
        """Return the error with further advice after its hint."""
        hint = "; ".join(filter(None, (self.hint, advice)))
        return type(self)(self.code, self.message, hint=hint, locations=self.locations)

    def as_plain(self) -> ErrorRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        places = tuple(Location(location.place, location.line, location.column) for location in self.locations)
        return ErrorRecord(self.code, self.family, self.message, self.hint, places)


class InputError(CommodoreError):
    """Invalid input of a user: a file, the hierarchy, a flag's value."""

    exit_code = 1
    family = "input"


class UsageError(CommodoreError):
    """An invalid command line."""

    exit_code = 2
    family = "usage"


class EnvironmentFault(CommodoreError):
    """A failure of the environment: network, git, disk, an external tool."""

    exit_code = 3
    family = "environment"


class Refused(EnvironmentFault):
    """Refused by the rules of a server: retrying is useless."""


class PolicyError(CommodoreError):
    """Refused for safety; nothing was changed."""

    exit_code = 4
    family = "policy"


class NotReady(CommodoreError):
    """Nothing was done, since something else is not ready yet."""

    exit_code = 5
    family = "waiting"


class InternalError(CommodoreError):
    """A bug in commodore."""

    exit_code = 70
    family = "internal"


class Findings(CommodoreError):
    """Several errors of one stage, reported together. Its exit code is the highest of its errors."""

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
        """Return the errors, each below the subject."""
        return Findings(error.about(subject, at=at, first=first) for error in self.errors)

    def hinting(self, advice: str) -> CommodoreError:
        """Return the errors, each with further advice."""
        return Findings(error.hinting(advice) for error in self.errors)


def _rebuild(
    kind: type[CommodoreError], code: str, message: str, hint: str, locations: tuple[Location, ...]
) -> CommodoreError:
    return kind(code, message, hint=hint, locations=locations)


def raise_all(errors: Sequence[CommodoreError]) -> None:
    """Raise a single error, or several as `Findings`.

    Raises:
        CommodoreError: when `errors` is not empty.
    """
    different = _each_once(errors)
    if len(different) == 1:
        raise different[0]
    if different:
        raise Findings(different)


def _each_once(errors: Sequence[CommodoreError]) -> list[CommodoreError]:
    """Remove duplicates: several steps can fail for the same reason, such as a missing program."""
    return list({(error.code, error.message, error.locations): error for error in reversed(errors)}.values())[::-1]


def did_you_mean(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return a hint with the known names closest to a misspelled one, or an empty string.

    Args:
        likeness: the least similarity, from 0 (any name) to 1 (equal).
    """
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=likeness)
    return f"did you mean {' or '.join(repr(match) for match in close)}?" if close else ""
