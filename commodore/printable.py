"""Text from outside, made fit to be shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 10_000
"""The most letters of one text of others that a message shows."""
NAMES_SHOWN = 10
"""How many names of a long list a message repeats."""


def printable(text: str) -> str:
    """The text without control characters and without those that turn the direction of writing; blanks for newlines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def printable_lines(text: str) -> str:
    """The same of text with lines and tabs, which stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in "\n\t" else _without(character) for character in text)


def capitalized(text: str) -> str:
    """Text as the beginning of a line: its first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things: `1 file`, `2 files`; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def _shown(character: str) -> str:
    return " " if character in "\n\r\t" else _without(character)


def _without(character: str) -> str:
    if unicodedata.category(character) in _NOT_SEEN or character in _MARKS_OF_DIRECTION:
        return ""
    return "" if unicodedata.bidirectional(character) in _TURNS else character


_NOT_SEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
_MARKS_OF_DIRECTION = frozenset("\u061c\u200e\u200f")
_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def only_printable(text: str, instead: str = "") -> str:
    """The text on one line, with nothing but letters that are seen, and plain blanks.

    Args:
        instead: stands for each letter that is left out.
    """
    return "".join(letter if letter.isprintable() else instead for letter in text)


def shortened(text: str, most: int = LONGEST) -> str:
    """The beginning of a text, and how much of it is left out."""
    return text if len(text) <= most else f"{text[:most]}… ({counted(len(text) - most, 'more character')})"


def in_markdown(text: str) -> str:
    """Text of one line in which nothing is Markdown, HTML, a link or a mention, for the middle of a line."""
    return _ACTIVE.sub(lambda match: "".join(f"&#{ord(letter)};" for letter in match[0]), text)


_ACTIVE = re.compile(r"[\\`*_\[\]#|~<>@$&]|(?<=:)//|(?<=www)\.", re.IGNORECASE)


def some_of(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """The first names of a list, and how many more there are."""
    shown = [only_printable(name, "?") for name in names[:most]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def cells(text: str) -> int:
    """How many cells of a terminal the text fills: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
