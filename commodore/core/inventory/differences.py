"""Differences between the parameters of two clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from commodore.base.documents import ABSENT, Absent
from commodore.base.errors import InputError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml import dump_flush
from commodore.core.inventory.parameter_path import ParameterPath, format_path, key_text, look_up
from commodore.core.review import DiffLine, diff_lines

Change = Literal["added", "removed", "changed"]

OF_A_PLACE = frozenset({"_base_directory", "_instance", "_kustomize_wrapper", "_python3", "_reclass_"})
"""Parameters with the path and name of the rendering, which do not describe a cluster."""


@dataclass(frozen=True, slots=True)
class ParameterDifference:
    """A parameter that differs. `left` is `ABSENT` if it was added, `right` if it was removed."""

    path: ParameterPath = field(metadata={"json": format_path})
    change: Change
    left: Any | Absent
    right: Any | Absent


def compare_parameters(
    left: Mapping[Any, Any], right: Mapping[Any, Any], path: ParameterPath = ()
) -> list[ParameterDifference]:
    """Return the parameters that differ, sorted by path. Mappings are compared by key, lists as a whole.

    Parameters in `OF_A_PLACE` are left out. Types are compared: `1`, `1.0`, `'1'` and `true` are four values.

    Args:
        path: compare only the parameters below it.

    Raises:
        InputError: CMD-INV-041, no such parameter on either side.
    """
    if not path:
        return list(_compare(_without_place(left), _without_place(right), ()))
    ours, theirs = _value_at(left, path), _value_at(right, path)
    if not ours and not theirs:
        look_up(left, path)
    if ours and theirs and isinstance(ours[0], Mapping) and isinstance(theirs[0], Mapping):
        return list(_compare(ours[0], theirs[0], path))
    if ours and theirs:
        return [] if _same(ours[0], theirs[0]) else [ParameterDifference(path, "changed", ours[0], theirs[0])]
    if ours:
        return [ParameterDifference(path, "removed", ours[0], ABSENT)]
    return [ParameterDifference(path, "added", ABSENT, theirs[0])]


def render_difference(difference: ParameterDifference) -> Iterator[DiffLine]:
    """Render a difference as lines of a unified diff, with the parameter's path in place of line numbers."""
    note = "" if difference.change == "changed" else f" {difference.change}"
    yield DiffLine("hunk", f"@@ {format_path(difference.path)}{note} @@")
    old = "" if difference.change == "added" else _text(difference.left)
    new = "" if difference.change == "removed" else _text(difference.right)
    for line in diff_lines(old, new, DEFAULT_LIMITS):
        if line.style != "hunk":
            yield line
        elif not line.text.startswith(("@@ -1 ", "@@ -1,", "@@ -0,")):
            yield DiffLine("context", " …")


def _text(value: Any) -> str:
    """Render a value: multi-line strings as they are, everything else as YAML."""
    if isinstance(value, str) and "\n" in value:
        return value.removesuffix("\n") + "\n"
    return dump_flush(value).removesuffix("\n...\n").removesuffix("\n") + "\n"


def _value_at(parameters: Mapping[Any, Any], path: ParameterPath) -> tuple[Any, ...]:
    try:
        return (look_up(parameters, path),)
    except InputError:
        return ()


def _without_place(parameters: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in parameters.items() if key not in OF_A_PLACE}


def _compare(left: Mapping[Any, Any], right: Mapping[Any, Any], path: ParameterPath) -> Iterator[ParameterDifference]:
    ours, theirs = _typed(left), _typed(right)
    for key in sorted({**ours, **theirs}):
        here = (*path, key[0])
        if key not in theirs:
            yield ParameterDifference(here, "removed", ours[key], ABSENT)
        elif key not in ours:
            yield ParameterDifference(here, "added", ABSENT, theirs[key])
        elif isinstance(ours[key], Mapping) and isinstance(theirs[key], Mapping):
            yield from _compare(ours[key], theirs[key], here)
        elif not _same(ours[key], theirs[key]):
            yield ParameterDifference(here, "changed", ours[key], theirs[key])


def _typed(value: Mapping[Any, Any]) -> dict[tuple[str, str], Any]:
    """Return the entries by sortable keys, which distinguish `1` and `'1'`."""
    return {(key_text(key), type(key).__name__): entry for key, entry in value.items()}


def _same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Mapping):
        ours, theirs = _typed(left), _typed(right)
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    return bool(left == right or (left != left and right != right))  # .nan is .nan
