"""Compare plain data: strict equality by type, digests and similarity."""

from __future__ import annotations

import hashlib
import marshal
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any


def is_same(left: Any, right: Any) -> bool:
    """Return True if two values are equal. `1`, `1.0` and `true` are different; the order of keys does not matter.

    Works for values of any depth.
    """
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if isinstance(left, dict):
            if len(left) != len(right) or any(key not in right for key in left):
                return False
            pending += [(value, right[key]) for key, value in left.items()]
        elif isinstance(left, list):
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif left != right and not (left != left and right != right):  # NaN equals NaN here
            return False
    return True


def identity(value: Any) -> bytes:
    """Return a digest of a value. The order of keys matters."""
    try:
        return hashlib.sha256(marshal.dumps(value, 2)).digest()
    except ValueError:  # too deep, or not plain data, such as a date
        return hashlib.sha256(_flat(value).encode("utf-8", "surrogatepass")).digest()


def _flat(value: Any) -> str:
    """Return a text that identifies a value, without recursion."""
    parts: list[str] = []
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            parts.append(f"map{len(current)}")
            pending += [part for item in current.items() for part in item]
        elif isinstance(current, list):
            parts.append(f"list{len(current)}")
            pending += current
        else:
            parts.append(f"{type(current).__name__}:{current!r}")
    return "\0".join(parts)


def as_json(value: Any) -> Any:
    """Convert a value to JSON data: dates, keys, and numbers without a JSON form become texts.

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
    """Return the values of a value by path, ignoring places in lists.

    Args:
        unnamed: leave out the identity of an object: its kind, name and namespace, and its name in other texts.
    """
    return Counter(_leaves(value, unnamed))


def _leaves(value: Any, unnamed: bool) -> Iterator[tuple[Any, ...]]:
    metadata = value.get("metadata") if unnamed and isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    pending: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while pending:
        path, current = pending.pop()
        if isinstance(current, dict) and current:
            named = unnamed and path in ((), ("metadata",))
            pending += [
                ((*path, str(key)), inner)
                for key, inner in current.items()
                if not (named and key in ("apiVersion", "kind", "name", "namespace"))
            ]
        elif isinstance(current, list) and current:
            pending += [((*path, ""), inner) for inner in current]
        elif isinstance(current, str) and isinstance(name, str) and name:
            yield (*path, repr(current.replace(name, "\0")))
        else:
            yield (*path, repr(current))


def similarity(left: Leaves, right: Leaves) -> float:
    """Return the share of common leaves of two values: from 0 to 1."""
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 0.0
