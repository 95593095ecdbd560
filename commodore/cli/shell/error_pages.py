"""The error codes: the pages of `docs/reference/errors`, which are part of the wheel, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.errors import (
    EnvironmentFault,
    InputError,
    InternalError,
    NotReady,
    PolicyError,
    UsageError,
    did_you_mean,
)

_PACKAGE = Path(__file__).resolve().parents[2]
# In the wheel the pages lie next to this module; in a checkout they are where they are written.
_PLACES = (_PACKAGE / "error-pages", _PACKAGE.parent / "docs" / "reference" / "errors")

_HEADING = re.compile(r"^# [A-Z]+: (\S.*)$", re.MULTILINE)
_SECTION = re.compile(r"^## (CMD-[A-Z]+-\d{3}): (\S.*)$", re.MULTILINE)
_KIND = re.compile(r"\*(warning|finding|(?P<family>[a-z]+) error, exit code \d+)\*")
_LOOSE_CODE = re.compile(r"(?:CMD)?([A-Z]+)0*(\d{1,3})")

EXIT_CODES = {
    kind.family: kind.exit_code
    for kind in (InputError, UsageError, EnvironmentFault, PolicyError, NotReady, InternalError)
}
"""The exit code of each family of errors."""


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """The description of a code.

    Args:
        code: such as `CMD-DEP-012`.
        title: a few words.
        family: who has to act (`input`, `environment`, ...), or `warning`, or `finding` (of a test command). A section
            that does not say it is `unknown`; tests/test_errors_documented.py lets none through.
        exit_code: what a run ends with because of it; None for warnings and findings.
        paragraphs: Markdown, one block each: what it means, why it happens, how to fix it.
    """

    code: str
    title: str
    family: str
    exit_code: int | None
    paragraphs: tuple[str, ...] = field(metadata={"json": False})

    @property
    def kind(self) -> str:
        """The family and the exit code in words."""
        return self.family if self.exit_code is None else f"{self.family} error, exit code {self.exit_code}"


@dataclass(frozen=True, slots=True)
class ErrorRoom:
    """The codes of one part of the program: `name` is the middle of the codes, `title` says what they are about."""

    name: str
    title: str
    pages: tuple[ErrorPage, ...]


def read_error_rooms() -> tuple[ErrorRoom, ...]:
    """Everything there is to know about codes, by name.

    Raises:
        EnvironmentFault: the pages are missing in this installation.
    """
    files = sorted(_folder().glob("[A-Z]*.md"))
    return tuple(_parse(file.stem, file.read_text(encoding="utf-8")) for file in files)


def find_error_page(requested: str) -> ErrorPage:
    """The page of a code, however it is spelt: `CMD-DEP-012`, `dep-12`, `[CMD-DEP-012]`.

    Raises:
        InputError: no such code.
        EnvironmentFault: the pages are missing in this installation.
    """
    code = normalize_code(requested)
    pages = {page.code: page for room in read_error_rooms() for page in room.pages}
    if code in pages:
        return pages[code]
    raise InputError(
        "CMD-CLI-060",
        f"there is no error code {requested!r}",
        hint=did_you_mean(code, pages) or "'commodore explain' lists all codes",
    )


def normalize_code(text: str) -> str:
    """A code as it is written in messages, or the text in capitals if it has not the form of a code."""
    bare = re.sub(r"[^A-Z0-9]", "", text.upper())
    match = _LOOSE_CODE.fullmatch(bare)
    return f"CMD-{match[1]}-{int(match[2]):03}" if match else text.upper()


def _folder() -> Path:
    for place in _PLACES:
        if place.is_dir():
            return place
    raise EnvironmentFault(
        "CMD-CLI-061",
        "the pages about error codes are not part of this installation",
        hint="install commodore again",
    )


def _parse(name: str, text: str) -> ErrorRoom:
    heading = _HEADING.search(text)
    return ErrorRoom(name, heading[1] if heading else "", tuple(_sections(text)))


def _sections(text: str) -> Iterator[ErrorPage]:
    matches = list(_SECTION.finditer(text))
    ends = [section.start() for section in matches[1:]] + [len(text)]
    for section, end in zip(matches, ends, strict=True):
        blocks = _blocks(text[section.end() : end])
        match = _KIND.fullmatch(blocks[0]) if blocks else None
        family = (match["family"] or match[1]) if match else "unknown"
        paragraphs = blocks[1:] if match else blocks
        yield ErrorPage(section[1], section[2], family, EXIT_CODES.get(family), tuple(paragraphs))


def _blocks(text: str) -> list[str]:
    """Split a text at blank lines, except within fenced blocks."""
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in text.strip().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if not line.strip() and not fenced:
            blocks.append([])
        else:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block]
