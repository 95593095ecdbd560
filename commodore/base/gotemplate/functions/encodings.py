"""Sprig's functions of JSON, base64 and base32."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Final

from commodore.base.gotemplate.functions.json_faults import json_fault
from commodore.base.gotemplate.numbers import json_float
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import Object, Value, decoded, encoded, is_nil_list

TABLE: Final[Table] = {}
_CONTROL: Final = re.compile('[\x00-\x1f"\\\\\u2028\u2029\udc80-\udcff]')
_CONTROL_AND_HTML: Final = re.compile('[\x00-\x1f"\\\\\u2028\u2029<>&\udc80-\udcff]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_BLANK: Final = " \t\n\r"


def to_json(value: Value, *, html: bool = True, indent: str | None = None) -> str:
    """A value as Go's encoder writes it: sorted keys, no blanks, and with `html` without ``<``, ``>`` and ``&``.

    Raises:
        CallProblem: it holds a number that JSON cannot represent.
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
    parts = [left]
    for at, item in enumerate(items):
        parts.append("," + inner if at else inner)
        parts.extend(item)
    return [*parts, start, right]


def _json_text(text: str, unsafe: re.Pattern[str]) -> str:
    return '"' + unsafe.sub(_json_character, text) + '"'


def _json_character(match: re.Match[str]) -> str:
    char = match[0]
    if "\udc80" <= char <= "\udcff":
        return "\\ufffd"
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def from_json(text: str) -> Value:
    """Parse JSON as Go's decoder does into any type: numbers are floats.

    Raises:
        CallProblem: it is invalid JSON.
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
_B32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@function(TABLE, "b64dec", "string")
def _b64dec(text: str) -> str:
    raw = encoded(text)
    bad = _base64_fault(raw.decode("latin-1"))
    if bad is not None:
        return f"illegal base64 data at input byte {bad}"
    return decoded(base64.b64decode(raw.translate(None, b"\r\n")))


def _base64_fault(text: str) -> int | None:
    """Return the position that Go's decoder reports, or None."""
    count = 0
    for at, char in enumerate(text):
        if char in "\r\n":
            continue
        if char in _B64:
            count += 1
        elif char != "=" or count % 4 < 2:
            return at
        else:
            return _after_padding(text, at + 1, missing=count % 4 == 2)
    return len(text) - count % 4 if count % 4 else None


def _after_padding(text: str, at: int, *, missing: bool) -> int | None:
    at = _behind_breaks(text, at)
    if missing:
        if at == len(text):
            return at
        if text[at] != "=":
            return at - 1
        at = _behind_breaks(text, at + 1)
    return at if at < len(text) else None


def _behind_breaks(text: str, at: int) -> int:
    while text[at : at + 1] in ("\r", "\n"):
        at += 1
    return at


@function(TABLE, "b32dec", "string")
def _b32dec(text: str) -> str:
    data = encoded(text).translate(None, b"\r\n").decode("latin-1")
    read = 0
    for start in range(0, len(data), 8):
        digits, bad = _b32_block(data, start)
        if bad is not None:
            return f"illegal base32 data at input byte {bad}"
        read += digits
        if digits < 8:
            break
    return decoded(base64.b32decode(data[:read] + "=" * (-read % 8)))


def _b32_block(data: str, start: int) -> tuple[int, int | None]:
    """Return the number of digits before the padding of a block of eight, and the position that Go's decoder
    reports.
    """
    for digits in range(8):
        at = start + digits
        if at >= len(data):
            return digits, start
        rest = len(data) - at - 1
        if data[at] == "=" and digits >= 2 and rest < 8:
            if rest + digits < 7:
                return digits, len(data)
            other = next((place for place in range(at + 1, start + 8) if data[place] != "="), None)
            if other is not None:
                return digits, other - 1
            return digits, at if digits in (3, 6) else None
        if data[at] not in _B32:
            return digits, at
    return 8, None
