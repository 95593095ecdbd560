"""Text of values as embedded by reclass-rs: `True`, `null`, maps and lists as JSON with sorted keys."""

from __future__ import annotations

import json
import math
from typing import Any

from commodore.core.inventory.explain._nodes import ListNode, MapEntry, MapNode, Scalar


def embedded(value: Any) -> str:
    """Return the text of a value: plain data, or a node, whose references stay as written."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, float):
        return _number(value, "e")
    return str(value) if isinstance(value, int) else _json(value)


def _json(value: Any) -> str:
    if isinstance(value, Scalar):
        return _json(value.value)
    if isinstance(value, ListNode):
        return _json(list(value.items))
    if isinstance(value, MapNode):
        return _json(_last_values(value.entries))
    if isinstance(value, dict):
        members = sorted((_key(key), inner) for key, inner in value.items())
        return "{" + ",".join(f"{_quoted(key)}:{_json(inner)}" for key, inner in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_json(item) for item in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(float(value), "e+") if math.isfinite(value) else "null"
    return json.dumps(value, ensure_ascii=False)


def _last_values(entries: tuple[MapEntry, ...]) -> dict[Any, Any]:
    return {entry.key: entry.value for entry in entries}


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else embedded(key)


def _number(value: float, positive_exponent: str) -> str:
    """Return the text of a float: as in Python, except for the exponent."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, digits = repr(value).partition("e")
    if not exponent:
        return mantissa
    sign = "e-" if digits.startswith("-") else positive_exponent
    return f"{mantissa.removesuffix('.0')}{sign}{digits.lstrip('+-').lstrip('0')}"
