"""Plain YAML values as reclass-rs reads them: YAML 1.2, where `yes`, `012` and dates are texts."""

from __future__ import annotations

import math
import re
from typing import Any

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|0|[1-9][0-9]*)")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?\.(?:inf|Inf|INF)")
_NOT_A_NUMBER = frozenset({".nan", ".NaN", ".NAN"})
_BASES = {"0x": 16, "0o": 8, "0b": 2}


def read_scalar(text: str, *, quoted: bool, tag: str | None) -> Any:
    """The value of a scalar: None, a bool, a number or a text. `tag` is the one written before it, if there is one."""
    kind = (tag or "").rpartition(":")[2]
    if kind == "str" or (quoted and kind not in ("int", "float", "bool", "null")):
        return text
    if kind == "float":
        return _float(text)
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return text if _LEADING_ZERO.fullmatch(text) else _float(text)


def _integer(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    base = _BASES.get(digits[:2], 10)
    return sign * int(digits[2:] if base != 10 else digits, base)


def _float(text: str) -> float | str:
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if text in _NOT_A_NUMBER:
        return math.nan
    number = float(text) if _FLOAT.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
