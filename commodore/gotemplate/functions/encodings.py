"""Sprig's functions of JSON, base64 and base32."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Final

from commodore.gotemplate.functions.json_faults import json_fault
from commodore.gotemplate.numbers import json_float
from commodore.gotemplate.problems import CallProblem
from commodore.gotemplate.signatures import Table, function
from commodore.gotemplate.values import Object, Value, decoded, encoded, is_nil_list

TABLE: Final[Table] = {}
_CONTROL: Final = re.compile('[\x00-\x1f"\\\\\u2028\u2029\udc80-\udcff]')
_CONTROL_AND_HTML: Final = re.compile('[\x00-\x1f"\\\\\u2028\u2029<>&\udc80-\udcff]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_BLANK: Final = " \t\n\r"


def to_json(value: Value, *, html: bool = True, indent: str | None = None) -> str:
    """A value as Go's encoder writes it: sorted keys, no blanks, and with `html` without ``<``, ``>`` and ``&``.

    Raises:
        CallProblem: it holds a number that JSON does not have.
    """
    return "".join(_json(value, _CONTROL_AND_HTML if html else _CONTROL, indent, "\n"))


def _json(value: Value, unsafe: re.Pattern[str], indent: str | None, start: str) -> list[str]:
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str):
        return [_json_text(value, unsafe)]
    if isinstance(value, int):
        return [str(int(value))]
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            name = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
            raise CallProblem(f"json: unsupported value: {name}")
        return [json_float(value)]
    if isinstance(value, Object):
        return [_json_text(value.go_string(), unsafe)]
    inner = start + (indent or "")
    if is_nil_list(value):
        return ["null"]
    if isinstance(value, list):
        items = [_json(item, unsafe, indent, inner) for item in value]
        return _bracketed("[", items, "]", None if indent is None else (inner, start))
    colon = ":" if indent is None else ": "
    items = [[_json_text(key, unsafe), colon, *_json(value[key], unsafe, indent, inner)] for key in sorted(value)]
    return _bracketed("{", items, "}", None if indent is None else (inner, start))


def _bracketed(left: str, items: list[list[str]], right: str, breaks: tuple[str, str] | None) -> list[str]:
    if not items:
        return [left, right]
    inner, start = breaks or ("", "")
    found = [left]
    for at, item in enumerate(items):
        found.append("," + inner if at else inner)
        found.extend(item)
    return [*found, start, right]


def _json_text(text: str, unsafe: re.Pattern[str]) -> str:
    return '"' + unsafe.sub(_json_character, text) + '"'


def _json_character(match: re.Match[str]) -> str:
    char = match[0]
    if "\udc80" <= char <= "\udcff":
        return "\\ufffd"
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def from_json(text: str) -> Value:
    """JSON read as Go's decoder reads it into any type: numbers are floats.

    Raises:
        CallProblem: it is no JSON.
    """
    if not text.strip(_BLANK):
        raise CallProblem("unexpected end of JSON input")
    try:
        return json.loads(text.strip(_BLANK), parse_int=float, parse_constant=_no_constant)
    except json.JSONDecodeError:
        raise CallProblem(json_fault(text)) from None
    except RecursionError:
        raise CallProblem("exceeded max depth") from None


def _no_constant(word: str) -> Value:
    raise json.JSONDecodeError("invalid character", word, 0)


@function(TABLE, "toJson", "any")
def _to_json(value: Value) -> str:
    try:
        return to_json(value)
    except CallProblem:
        return ""


@function(TABLE, "toPrettyJson", "any")
def _to_pretty_json(value: Value) -> str:
    try:
        return to_json(value, indent="  ")
    except CallProblem:
        return ""


function(TABLE, "mustToJson", "any")(to_json)


@function(TABLE, "mustToPrettyJson", "any")
def _must_to_pretty_json(value: Value) -> str:
    return to_json(value, indent="  ")


@function(TABLE, "toRawJson mustToRawJson", "any")
def _to_raw_json(value: Value) -> str:
    return to_json(value, html=False)


@function(TABLE, "fromJson", "string")
def _from_json(text: str) -> Value:
    try:
        return from_json(text)
    except CallProblem:
        return None


function(TABLE, "mustFromJson", "string")(from_json)


@function(TABLE, "b64enc", "string")
def _b64enc(text: str) -> str:
    return base64.b64encode(encoded(text)).decode()


@function(TABLE, "b32enc", "string")
def _b32enc(text: str) -> str:
    return base64.b32encode(encoded(text)).decode()


_B64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PADDINGS: Final = {4: (0, 1, 2), 8: (0, 1, 3, 4, 6)}
_B32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@function(TABLE, "b64dec", "string")
def _b64dec(text: str) -> str:
    return _decoded(text, _B64, 4, "base64")


@function(TABLE, "b32dec", "string")
def _b32dec(text: str) -> str:
    return _decoded(text, _B32, 8, "base32")


def _decoded(text: str, alphabet: str, size: int, name: str) -> str:
    """What a text stands for, or Go's words about the byte that a decoder stops at."""
    raw = encoded(text)
    kept = [at for at, byte in enumerate(raw) if byte not in b"\r\n"]
    data = bytes(raw[at] for at in kept).decode("latin-1")
    for start in range(0, len(data), size):
        block = data[start : start + size]
        stripped = block.rstrip("=") if start + size >= len(data) else block
        bad = next((at for at, char in enumerate(stripped) if char not in alphabet), None)
        if bad is None and len(block) == size and size - len(stripped) not in _PADDINGS[size]:
            bad = len(stripped)
        if bad is not None:
            return f"illegal {name} data at input byte {kept[start + bad] if size == 4 else start + bad}"
        if len(block) < size:
            return f"illegal {name} data at input byte {len(raw) - len(block) if size == 4 else start}"
    return decoded(base64.b64decode(data) if name == "base64" else base64.b32decode(data))
