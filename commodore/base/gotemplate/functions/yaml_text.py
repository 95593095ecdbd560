"""YAML as written by Go's library of Kubernetes, which the template function `toYaml` calls.

A value is converted to JSON first, so whole floats become integers, and then to YAML in block style: sorted keys, list
items aligned with their key, lines folded after column 80, ambiguous texts in double quotes.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from commodore.base.gotemplate.functions.encodings import to_json
from commodore.base.gotemplate.numbers import bounded_integer, float_text
from commodore.base.gotemplate.values import Value, wrapped64

_WIDTH: Final = 80
_LONGEST_KEY: Final = 128  # the most bytes of a key in short form
_LARGEST: Final = (1 << 64) - 1
_SMALLEST: Final = -(1 << 63)
_WRAPPED: Final = 64  # relevant digits of a number that wraps around at 64 bits: 2**64 divides 10**64

_WORD: Final = re.compile(
    r"[yYnN~]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|null|Null|NULL"
    r"|\.nan|\.NaN|\.NAN|[-+]?\.(inf|Inf|INF)"
)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER: Final = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_BASE_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_TIME: Final = re.compile(
    r"[0-9]{4}-(1[0-2]|0?[1-9])-(3[01]|[12][0-9]|0?[1-9])"
    r"([Tt](2[0-3]|[01]?[0-9]):[0-5]?[0-9]:[0-5]?[0-9]([.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})"
    r"| (2[0-3]|[01]?[0-9]):[0-5]?[0-9]:[0-5]?[0-9]([.,][0-9]+)?)?"
)
_UNPRINTABLE: Final = re.compile(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPED: Final = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPES: Final = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e",
    '"': '"', "\\": "\\", "\x85": "N", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
_INDICATOR: Final = re.compile(r"---|\.\.\.|[#,\[\]{}&*!|>'\"%@`]|[?:-](\s|$)|.*?(:(\s|$)|\s#)", re.DOTALL)


def to_yaml(value: Value) -> str:
    """Convert a value to YAML, without a final newline.

    Raises:
        CallProblem: it holds a number that JSON cannot represent.
    """
    data = json.loads(to_json(value, html=False), parse_int=_integer)
    text = "".join(_node(data, 0, column=0, root=True))
    return text[1:] if isinstance(data, dict | list) and data else text


def _integer(text: str) -> int | float:
    number = int(text)
    return number if _SMALLEST <= number <= _LARGEST else float(text)


def _node(value: Any, indent: int, *, column: int, root: bool = False) -> Iterator[str]:
    """Yield the text of a value after its dash or colon.

    Args:
        indent: the indentation of the containing map or list.
        column: the column after the dash or colon.
    """
    if isinstance(value, dict) and value:
        for key in sorted(value, key=functools.cmp_to_key(_compared)):
            yield from _entry(key, value[key], indent)
    elif isinstance(value, list) and value:
        for item in value:
            yield f"\n{' ' * indent}-"
            yield from _item(item, indent)
    else:
        yield ("" if root else " ") + _scalar(value, indent, column if root else column + 1)


def _entry(key: str, value: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    text = _text(key, indent, indent, is_key=True)
    if len(key.encode()) > _LONGEST_KEY or "\n" in key:
        yield f"\n{pad}? {_text(key, indent, indent + 2)}\n{pad}:"
        yield from _item(value, indent)
        return
    yield f"\n{pad}{text}:"
    inner = indent + 2 if isinstance(value, Mapping) else indent
    yield from _node(value, inner, column=indent + len(text) + 1)


def _item(value: Any, indent: int) -> Iterator[str]:
    """Yield the text after a dash: maps and lists begin in its line."""
    if isinstance(value, dict | list) and value:
        inner = "".join(_node(value, indent + 2, column=0))
        yield f" {inner[indent + 3 :]}"
    else:
        yield from _node(value, indent, column=indent + 1)


def _scalar(value: Any, indent: int, column: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, indent, column)
    if isinstance(value, float):
        return float_text(value)
    return "{}" if isinstance(value, dict) else "[]" if isinstance(value, list) else str(value)


def _text(text: str, indent: int, column: int, *, is_key: bool = False) -> str:
    """Return a text, with further lines below `indent`."""
    special = bool(_UNPRINTABLE.search(text)) or bool(re.search(" [\n\u2028\u2029]", text))
    if "\n" in text and not is_key:
        if special or text.endswith(" "):
            return _double_quoted(text, indent, column)
        return _literal(text, indent)
    if special or "\n" in text or _is_typed(text):
        return _double_quoted(text, indent, column, folded=not is_key)
    if text[0] == " " or text[-1] == " " or _INDICATOR.match(text):
        text = text.replace("'", "''")
        return f"'{text}'" if is_key else f"'{_folded(text, indent, column + 1)}'"
    return text if is_key else _folded(text, indent, column)


def _is_typed(text: str) -> bool:
    """Return True if an unquoted text has another type in YAML 1.1 or 1.2."""
    if not text or _WORD.fullmatch(text) or _BASE_60.fullmatch(text) or _TIME.fullmatch(text):
        return True
    bare = text if text[0] == "." else text.replace("_", "")
    if text[0] not in "+-.0123456789":
        return False
    if _INTEGER.fullmatch(bare) and _SMALLEST <= bounded_integer(_octal(bare), 0) <= _LARGEST:
        return True
    return bool(_FLOAT.fullmatch(bare)) and abs(float(bare)) != float("inf")


def _octal(digits: str) -> str:
    """Convert an octal number from Go's to Python's syntax, which needs an `o`."""
    return re.sub(r"^([-+]?)0(?=[0-7])", r"\g<1>0o", digits)


def _literal(text: str, indent: int) -> str:
    hint = "2" if text[0] in " \n" else ""
    chomp = "-" if not text.endswith("\n") else "+" if text == "\n" or text.endswith("\n\n") else ""
    lines = text.removesuffix("\n").split("\n")
    pad = " " * (indent + 2)
    return f"|{hint}{chomp}\n" + "\n".join(f"{pad}{line}" if line else "" for line in lines)


def _folded(text: str, indent: int, column: int) -> str:
    """Fold a plain or single quoted text of one line, at single blanks after column 80."""
    parts: list[str] = []
    for at, character in enumerate(text):
        inside = 0 < at < len(text) - 1
        breaks = inside and character == " " and column > _WIDTH and " " not in (text[at - 1], text[at + 1])
        parts.append("\n" + " " * (indent + 2) if breaks else character)
        column = indent + 2 if breaks else column + 1
    return "".join(parts)


def _double_quoted(text: str, indent: int, column: int, *, folded: bool = True) -> str:
    parts: list[str] = ['"']
    column += 1
    for at, character in enumerate(text):
        if _ESCAPED.match(character):
            part = f"\\{_ESCAPES.get(character) or _code(character)}"
        elif character != " " or not folded or column <= _WIDTH or at in (0, len(text) - 1) or text[at - 1] == " ":
            part = character
        else:
            part = "\n" + " " * (indent + 2) + ("\\" if text[at + 1] == " " else "")
            column = indent + 2 - len(part) + (part[-1] == "\\")
        column += len(part)
        parts.append(part)
    return "".join((*parts, '"'))


def _code(character: str) -> str:
    number = ord(character)
    return f"x{number:02X}" if number <= 0xFF else f"u{number:04X}" if number <= 0xFFFF else f"U{number:08X}"


def _compared(key: str, other: str) -> int:
    """Compare keys: letters after other characters, and digits by their value."""
    for at, (left, right) in enumerate(zip(key, other, strict=False)):
        if left == right:
            continue
        if left.isalpha() or right.isalpha():
            if left.isalpha() and right.isalpha():
                return -1 if left < right else 1
            return -1 if right.isalpha() else 1
        first = "1" if "0" in (left, right) and re.search("[1-9][0-9]*$", key[:at]) else ""
        mine, theirs = (_by_number(text[at:], first) for text in (key, other))
        return -1 if mine < theirs else 1
    return len(key) - len(other)


def _by_number(text: str, before: str) -> tuple[int, int, str]:
    """Return the sort key of a text with leading digits.

    Args:
        before: the digits before it.
    """
    digits = "".join(itertools.takewhile(str.isdigit, text))
    return wrapped64(int(f"{before}{digits}"[-_WRAPPED:] or 0)), len(digits), text[0]
