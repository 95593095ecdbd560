"""Plain data: whether two values are the same, type for type, and a key to find equal ones by."""

from __future__ import annotations

import hashlib
import marshal
import math
from collections import Counter
from collections.abc import Iterator
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


def as_json(value: Any) -> Any:
    """A value as JSON knows it: dates, and numbers that JSON has no form for, are texts, and so are keys.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else str(value)


Leaves = Counter[tuple[Any, ...]]


def leaves(value: Any, *, unnamed: bool = False) -> Leaves:
    """What a value holds: the values at its paths, places in lists aside.

    Args:
        unnamed: leave out what names an object: its kind, name and namespace; its name in other texts, too.
    """
    return Counter(_leaves(value, unnamed))


def _leaves(value: Any, unnamed: bool) -> Iterator[tuple[Any, ...]]:
    metadata = value.get("metadata") if unnamed and isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    pending: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while pending:
        path, one = pending.pop()
        if isinstance(one, dict) and one:
            named = unnamed and path in ((), ("metadata",))
            pending += [
                ((*path, str(key)), inner)
                for key, inner in one.items()
                if not (named and key in ("apiVersion", "kind", "name", "namespace"))
            ]
        elif isinstance(one, list) and one:
            pending += [((*path, ""), inner) for inner in one]
        elif isinstance(one, str) and isinstance(name, str) and name:
            yield (*path, repr(one.replace(name, "\0")))
        else:
            yield (*path, repr(one))


def similarity(one: Leaves, other: Leaves) -> float:
    """The share of leaves that two values have in common: 0 for nothing, 1 for all."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0
