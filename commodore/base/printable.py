"""Make foreign text safe to print."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 10_000
"""The most characters of a foreign text in a message."""
NAMES_SHOWN = 10
"""The most names of a list in a message."""


def printable(text: str) -> str:
    """Remove control characters and direction marks, and replace newlines by blanks."""
    return _STEERING.sub("", _BREAKS.sub(" ", text))


def printable_lines(text: str) -> str:
    """Like `printable`, but keep newlines and tabs."""
    return _STEERING.sub("", text)


def printable_colours(text: str) -> str:
    """Like `printable`, but keep newlines, tabs and terminal colours."""
    return _STEERING_OR_COLOUR.sub(lambda match: match[1] or "", text)


def capitalized(text: str) -> str:
    """Return text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Format a count: `1 file`, `2 files`; `plural` for irregular nouns."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def without_commands(text: str) -> str:
    """Escape lines that GitHub Actions would read as workflow commands in the log of a step.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands; also the older `##[name]`.
    """
    return _COMMAND.sub(lambda match: f"{match[1]}: :" if match[1] is not None else "# #", text)


_BREAKS = re.compile("[\n\r\t]")
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_DIRECTIONS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SEPARATORS = r"\u2028\u2029"
_HALVES = r"\ud800-\udfff"
# Unassigned code points. XML cannot represent them, nor single surrogates.
_NONE = r"\ufdd0-\ufdef" + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(0x11))
_STEERING = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_SEPARATORS}{_HALVES}{_NONE}]")
_COLOUR = r"\x1b\[(?:[012]|22|[39][0-7])m"  # the colours, bold, dim and reset of `click.style`
_COMMAND = re.compile(rf"^((?:[^\S\n]|{_COLOUR})*)::(?=[A-Za-z-]+(?: [^\n]*?)?::)|##(?=\[)", re.MULTILINE)
_STEERING_OR_COLOUR = re.compile(f"({_COLOUR})|{_STEERING.pattern}")


def only_printable(text: str, instead: str = "") -> str:
    """Return the text on one line, with visible characters and plain blanks only.

    Args:
        instead: replaces each removed character.
    """
    return "".join(letter if letter.isprintable() else instead for letter in text)


def shortened(text: str, most: int = LONGEST) -> str:
    """Return the beginning of a text, with the number of omitted characters."""
    return text if len(text) <= most else f"{text[:most]}… ({counted(len(text) - most, 'more character')})"


def in_markdown(text: str) -> str:
    """Escape text of one line so that it holds no Markdown, HTML, link or mention, for the middle of a line."""
    return _ACTIVE.sub(lambda match: "".join(f"&#{ord(letter)};" for letter in match[0]), text)


_ACTIVE = re.compile(r"[\\`*_\[\]#|~<>@$&]|(?<=:)//|(?<=www)\.", re.IGNORECASE)


def some_of(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """Return the first names of a list, with the number of further ones."""
    shown = [only_printable(name, "?") for name in names[:most]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def cells(text: str) -> int:
    """Return the width of text in terminal cells: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
