"""Removal of values from JSON documents by JSON pointers and by jq paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from commodore.base.errors import InputError
from commodore.base.printable import printable
from commodore.base.values.pointers import pointer_steps

Step = str | int
_INDEX = re.compile(r"0|[1-9][0-9]*")


def checked_pointer(pointer: str) -> list[str]:
    """Return the steps of a JSON pointer (RFC 6901).

    Raises:
        InputError: CMD-ARGO-701, it does not begin with `/`.
    """
    if not pointer.startswith("/"):
        raise InputError(
            "CMD-ARGO-701",
            f"invalid JSON pointer {printable(pointer[:200])!r}",
            hint="it begins with '/'; write '~1' for a '/' within a name",
        )
    return pointer_steps(pointer)


def remove_pointer(data: Any, steps: Sequence[str]) -> bool:
    """Remove the value at a pointer. Return True if there was one."""
    for step in steps[:-1]:
        data = _child(data, step)
    last = steps[-1]
    if isinstance(data, dict) and last in data:
        del data[last]
        return True
    if isinstance(data, list) and _INDEX.fullmatch(last) and int(last) < len(data):
        del data[int(last)]
        return True
    return False


def _child(data: Any, step: str) -> Any:
    if isinstance(data, dict):
        return data.get(step)
    if isinstance(data, list) and _INDEX.fullmatch(step) and int(step) < len(data):
        return data[int(step)]
    return None


def remove_paths(data: Any, paths: Iterable[Sequence[Any]]) -> int:
    """Remove the values at jq paths, which are resolved before any removal. Return the number of removed places.

    A step is a key, an index (from the end if negative), or a slice: a mapping with `start` and `end`.
    """
    places = {tuple(place) for path in paths for place in _places(data, list(path)) if place}
    for place in sorted(places, key=lambda place: [(isinstance(step, int), step) for step in place], reverse=True):
        parent = data
        for step in place[:-1]:
            parent = parent[step]
        del parent[place[-1]]
    return len(places)


def _places(data: Any, path: list[Any]) -> list[list[Step]]:
    """Return the places that exist, as keys and indexes from the start. Removal of a place removes those within it."""
    if not path:
        return [[]]
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        keys: Iterable[Step] = [step] if isinstance(data, dict) and step in data else []
    elif not isinstance(data, list):
        keys = []
    elif isinstance(step, dict):
        keys = range(len(data))[slice(step.get("start"), step.get("end"))]
    else:
        index = int(step) if step >= 0 else int(step) + len(data)
        keys = [index] if 0 <= index < len(data) else []
    return [[key, *place] for key in keys for place in _places(data[key], rest)]
