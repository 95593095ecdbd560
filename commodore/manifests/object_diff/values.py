"""Plain data: whether two values are the same, type for type, and a key to find equal ones by."""

from __future__ import annotations

import hashlib
import marshal
from typing import Any


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal. `1`, `1.0` and `true` are three values; the order of keys does not count.

    Values of any depth can be compared.
    """
    pending = [(one, other)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if len(one) != len(other) or any(key not in other for key in one):
                return False
            pending += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pending += zip(one, other, strict=True)
        elif one != other and not (one != one and other != other):  # not a number, twice
            return False
    return True


def identity(value: Any) -> bytes:
    """A digest that is the same for the same values, except that the order of keys counts."""
    try:
        return hashlib.sha256(marshal.dumps(value, 2)).digest()
    except ValueError:  # too deep, or no plain data, such as a date
        return hashlib.sha256(_flat(value).encode("utf-8", "surrogatepass")).digest()


def _flat(value: Any) -> str:
    """Any value as a text that tells it from others, without recursion."""
    parts: list[str] = []
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            parts.append(f"map{len(one)}")
            pending += [part for item in one.items() for part in item]
        elif isinstance(one, list):
            parts.append(f"list{len(one)}")
            pending += one
        else:
            parts.append(f"{type(one).__name__}:{one!r}")
    return "\0".join(parts)
