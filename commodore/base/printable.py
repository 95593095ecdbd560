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
    return _STEERING.sub("", _BREAKS.sub(" ", text))


def printable_lines(text: str) -> str:
    """The same of text with lines and tabs, which stay."""
    return _STEERING.sub("", text)


def printable_colours(text: str) -> str:
    """The same of text with lines, tabs and colours of a terminal, which stay."""
    return _STEERING_OR_COLOUR.sub(lambda match: match[1] or "", text)


def capitalized(text: str) -> str:
    """Text as the beginning of a line: its first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things: `1 file`, `2 files`; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def without_commands(text: str) -> str:
    """Lines in which GitHub Actions, which reads the log of a step, sees no workflow command.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands; also the older `##[name]`.
    """
    return _COMMAND.sub(lambda match: f"{match[1]}: :" if match[1] is not None else "# #", text)


_BREAKS = re.compile("[\n\r\t]")
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_DIRECTIONS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SEPARATORS = r"\u2028\u2029"
_HALVES = r"\ud800-\udfff"
# Code points that no character has. XML has no form for them, nor for halves of pairs.
_NONE = r"\ufdd0-\ufdef" + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(0x11))
_STEERING = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_SEPARATORS}{_HALVES}{_NONE}]")
_COLOUR = r"\x1b\[(?:[012]|22|[39][0-7])m"  # what `click.style` makes of the colours, of bold and dim, and their end
_COMMAND = re.compile(rf"^((?:[^\S\n]|{_COLOUR})*)::(?=[A-Za-z-]+(?: [^\n]*?)?::)|##(?=\[)", re.MULTILINE)
_STEERING_OR_COLOUR = re.compile(f"({_COLOUR})|{_STEERING.pattern}")


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
