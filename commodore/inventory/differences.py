"""What differs between the parameters of two clusters, parameter by parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commodore.inventory.parameter_path import ParameterPath, format_path, key_text

Change = Literal["added", "removed", "changed"]

OF_A_PLACE = frozenset({"_base_directory", "_instance", "_kustomize_wrapper", "_python3", "_reclass_"})
"""Parameters that tell where and under which name something was rendered, and nothing about a cluster."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One parameter that differs. What was added has no `left`, what was removed no `right`: both are None then."""

    path: ParameterPath
    change: Change
    left: Any
    right: Any

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data: `path`, `change`, and `left` and `right` where they exist."""
        shown: dict[str, Any] = {"path": format_path(self.path), "change": self.change}
        if self.change != "added":
            shown["left"] = self.left
        if self.change != "removed":
            shown["right"] = self.right
        return shown


def compare_parameters(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> list[Difference]:
    """The parameters that differ, sorted by path. Maps are looked into, lists are compared as a whole.

    Parameters in `OF_A_PLACE` are left out. Types count: `1`, `1.0`, `'1'` and `true` are four values.
    """
    return list(_compare(_without_place(left), _without_place(right), ()))


def _without_place(parameters: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in parameters.items() if key not in OF_A_PLACE}


def _compare(left: Mapping[Any, Any], right: Mapping[Any, Any], path: ParameterPath) -> Iterator[Difference]:
    ours, theirs = _typed(left), _typed(right)
    for key in sorted({**ours, **theirs}):
        here = (*path, key[0])
        if key not in theirs:
            yield Difference(here, "removed", ours[key], None)
        elif key not in ours:
            yield Difference(here, "added", None, theirs[key])
        elif isinstance(ours[key], Mapping) and isinstance(theirs[key], Mapping):
            yield from _compare(ours[key], theirs[key], here)
        elif not _same(ours[key], theirs[key]):
            yield Difference(here, "changed", ours[key], theirs[key])


def _typed(value: Mapping[Any, Any]) -> dict[tuple[str, str], Any]:
    """The entries under keys that can be sorted, and with `1` and `'1'` apart."""
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
