"""Deep merging of values. Pure: no input is changed, and results share no mutable parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

Path_ = tuple[object, ...]
Changed = Callable[[Path_, Any, Any], None]
"""Called for a value replaced by another kind of value: path, old and new value."""

_NONE: Mapping[Path_, str] = MappingProxyType({})


def merge(
    base: Any, over: Any, strategies: Mapping[Path_, str] = _NONE, path: Path_ = (), changed: Changed | None = None
) -> Any:
    """Merge `over` into `base`: maps are merged, everything else is replaced.

    Args:
        strategies: by path, `append` or `append-unique` for lists to extend.
        path: the path of both.
        changed: called for changes of kind (a map, a list, or neither); null has any kind.
    """
    if isinstance(base, dict) and isinstance(over, dict):
        merged = {}
        for key, value in base.items():
            inner = over.get(key, _MISSING)
            merged[key] = copy(value) if inner is _MISSING else merge(value, inner, strategies, (*path, key), changed)
        for key, value in over.items():
            if key not in base:
                merged[key] = copy(value)
        return merged
    if isinstance(base, list) and isinstance(over, list) and strategies.get(path) in ("append", "append-unique"):
        return _appended(base, over, unique=strategies[path] == "append-unique")
    if changed is not None and base is not None and over is not None and _kind(base) != _kind(over):
        changed(path, base, over)
    return copy(over)


def copy(value: Any) -> Any:
    """Return a deep copy."""
    if isinstance(value, dict):
        return {key: copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copy(inner) for inner in value]
    return value


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Yield the values that a tree of maps sets, each with its path: other values than maps, and empty maps."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def overlap(first: Path_, second: Path_) -> bool:
    """Return True if two paths are equal, or one is below the other."""
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def same(first: Any, second: Any) -> bool:
    """Return True if two values are equal in value and type: true is not 1, and 1 is not 1.0."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list):
        return len(first) == len(second) and all(same(left, other) for left, other in zip(first, second, strict=True))
    return bool(first == second)


_MISSING = object()


def _kind(value: object) -> type:
    return type(value) if isinstance(value, (dict, list)) else str


def _appended(base: list[Any], over: list[Any], *, unique: bool) -> list[Any]:
    merged: list[Any] = copy(base)
    for value in over:
        if not unique or not any(same(value, other) for other in merged):
            merged.append(copy(value))
    return merged
