"""Paths of strategies and dependencies: JSON Pointers that begin with an application, or with a section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commodore.base.values.pointers import pointer_steps
from commodore.fleet.repository.model import APPLICATIONS, SECTIONS

Path_ = tuple[object, ...]


class Missing:
    """Stands for a value that is not there."""


MISSING = Missing()


def strategy_path(text: str, sections: Sequence[str]) -> Path_:
    """A pointer, with or without its first slash, as a path in values.

    Args:
        sections: those that a first segment may name; `applications` is meant else.
    """
    steps = pointer_steps(text)
    if steps[0] in (*SECTIONS, *sections):
        return tuple(steps)
    return (APPLICATIONS, *steps)


def value_at(data: Any, path: Path_) -> Any:
    """The value at a path; `MISSING` if there is none. A number selects in lists."""
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
    """A path with the keys that the maps have; None if it does not lead through maps alone to a value."""
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
    """The key that is meant: those of files may be numbers or booleans, in a pointer all steps are texts."""
    if step in data:
        return step
    return next((key for key in data if not isinstance(key, str) and key_text(key) == step), MISSING)


def key_text(key: object) -> str:
    """A key as YAML writes it."""
    if key is None:
        return "null"
    return str(key).lower() if isinstance(key, bool) else str(key)
