"""Quote texts and characters as Go does, and parse Go's literals."""

from __future__ import annotations

import re
from typing import Final

from commodore.base.gotemplate.values import decoded

_ESCAPES: Final = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 92: "\\\\"}
_UNESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_ESCAPED: Final = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\\'\"])|(?P<octal>[0-7]{3})|x(?P<byte>[0-9a-fA-F]{2})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))|(?P<bad>\\)|(?P<other>.)",
    re.DOTALL,
)


def quoted(text: str, *, ascii_only: bool = False) -> str:
    """Quote a text with Go's escapes (strconv.Quote)."""
    return '"' + "".join(_escaped(char, '"', ascii_only) for char in text) + '"'


def quoted_character(number: int, *, ascii_only: bool = False) -> str:
    """Quote a character in single quotes, by its number (strconv.QuoteRune)."""
    char = "\ufffd" if number > 0x10FFFF or number < 0 or 0xD800 <= number < 0xE000 else chr(number)
    return "'" + _escaped(char, "'", ascii_only) + "'"


def _escaped(char: str, quote: str, ascii_only: bool) -> str:
    number = ord(char)
    if char == quote:
        return "\\" + quote
    if number in _ESCAPES:
        return _ESCAPES[number]
    if 0xDC80 <= number <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{number - 0xDC00:02x}"
    if number < 0x80:
        return char if char.isprintable() else f"\\x{number:02x}"
    if not ascii_only and char.isprintable():
        return char
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def unquoted(literal: str) -> str | None:
    """Return the text of a Go literal in double or back quotes; None if it is invalid."""
    if literal[:1] == "`":
        return literal[1:-1].replace("\r", "")
    return _unescaped(literal[1:-1], '"')


def unquoted_character(literal: str) -> int | None:
    """Return the number of the character in a Go literal in single quotes; None if it is invalid."""
    inner = literal[1:-1]
    byte = re.fullmatch(r"\\(?:([0-7]{3})|x([0-9a-fA-F]{2}))", inner)
    if byte is not None:
        number = int(byte[1], 8) if byte[1] else int(byte[2], 16)
        return number if number < 256 else None
    text = _unescaped(inner, "'")
    return ord(text) if text is not None and len(text) == 1 else None


def _unescaped(inner: str, quote: str) -> str | None:
    data = bytearray()
    for match in _ESCAPED.finditer(inner):
        kind, escape = match.lastgroup, match[match.lastgroup or 0]
        if kind == "bad" or (kind == "other" and escape in (quote, "\n")):
            return None
        if kind == "simple":
            if escape in "'\"" and escape != quote:
                return None
            data += _UNESCAPES.get(escape, escape).encode()
        elif kind in ("octal", "byte"):
            number = int(escape, 8 if kind == "octal" else 16)
            if number > 255:
                return None
            data.append(number)
        elif kind in ("short", "long"):
            number = int(escape, 16)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                return None
            data += chr(number).encode()
        else:
            data += escape.encode("utf-8", "surrogateescape")
    return decoded(bytes(data))
