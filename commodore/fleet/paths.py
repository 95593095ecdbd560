"""Paths of strategies and dependencies: JSON Pointers that begin with an application, or with a section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    steps = [step.replace("~1", "/").replace("~0", "~") for step in text.removeprefix("/").split("/")]
    if steps[0] in (*SECTIONS, *sections):
        return tuple(steps)
    return (APPLICATIONS, *steps)


def value_at(data: Any, path: Path_) -> Any:
    """The value at a path; `MISSING` if there is none. A number selects in lists."""
    for step in path:
        if isinstance(data, dict):
            data = data[step] if step in data else _by_text(data, step)
        elif isinstance(data, list):
            text = str(step)
            data = data[int(text)] if text.isdecimal() and int(text) < len(data) else MISSING
        else:
            return MISSING
        if data is MISSING:
            return MISSING
    return data


def _by_text(data: dict[Any, Any], step: object) -> Any:
    """Keys of files may be numbers; in a pointer all steps are texts."""
    return next((value for key, value in data.items() if not isinstance(key, str) and str(key) == step), MISSING)
