"""Paths of strategies and dependencies: JSON Pointers that begin with an application or a section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commodore.base.values.pointers import pointer_steps
from commodore.fleet.repository.model import APPLICATIONS, SECTIONS

Path_ = tuple[object, ...]


class Missing:
    """The type of `MISSING`, which marks an absent value."""


MISSING = Missing()


def strategy_path(text: str, sections: Sequence[str]) -> Path_:
    """Convert a pointer, with or without its first slash, to a path in values.

    Args:
        sections: the valid sections in the first segment; by default `applications`.
    """
    steps = pointer_steps(text)
    if steps[0] in (*SECTIONS, *sections):
        return tuple(steps)
    return (APPLICATIONS, *steps)


def value_at(data: Any, path: Path_) -> Any:
    """Return the value at a path; `MISSING` if it is absent. A number selects in lists."""
    for step in path:
        if isinstance(data, dict):
            key = _key(data, step)
            data = MISSING if key is MISSING else data[key]
        elif isinstance(data, list):
            text = str(step)
            data = data[int(text)] if text.isdecimal() and int(text) < len(data) else MISSING
        else:
            return MISSING
        if data is MISSING:
            return MISSING
    return data


def map_path(data: Any, path: Path_) -> Path_ | None:
    """Return a path with the keys of the maps; None if it does not lead to a value through maps only."""
    steps: list[object] = []
    for step in path:
        if not isinstance(data, dict):
            return None
        key = _key(data, step)
        if key is MISSING:
            return None
        steps.append(key)
        data = data[key]
    return tuple(steps)


def _key(data: dict[Any, Any], step: object) -> Any:
    """Return the matching key: those of files may be numbers or booleans, steps of a pointer are texts."""
    if step in data:
        return step
    return next((key for key in data if not isinstance(key, str) and key_text(key) == step), MISSING)


def key_text(key: object) -> str:
    """Format a key as YAML does."""
    if key is None:
        return "null"
    return str(key).lower() if isinstance(key, bool) else str(key)
