"""Signatures of functions in Go's types; argument errors have Go's messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from commodore.base.gotemplate.values import NO_VALUE, NilList, Value, type_name

GO_TYPES: Final = {
    "any": "interface {}",
    "value": "reflect.Value",
    "string": "string",
    "int": "int",
    "int64": "int64",
    "float64": "float64",
    "bool": "bool",
    "map": "map[string]interface {}",
    "list": "[]interface {}",
    "time": "time.Time",
    "version": "*semver.Version",
}
_NULLABLE: Final = frozenset(["any", "value", "map", "list", "version"])


class NilMap(dict[str, Value]):
    """A nil map[string]interface {}: reads as empty, cannot be written to."""


@dataclass(frozen=True, slots=True)
class Function:
    """A template function: its parameters' types (keys of `GO_TYPES`), and its implementation.

    A `variadic` function accepts any number of arguments of its last parameter's type.
    """

    name: str
    params: tuple[str, ...]
    call: Callable[..., Value]
    variadic: bool = False
    refused: bool = False  # random or time-dependent
    changes: bool = False  # changes its first argument

    def param(self, index: int) -> str:
        """Return the type of an argument."""
        return self.params[min(index, len(self.params) - 1)]


Table = dict[str, Function]


def function(
    table: Table, names: str, params: str = "", *, changes: bool = False
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register the decorated function in a table.

    Args:
        table: the table.
        names: its names, separated by spaces.
        params: types of its parameters, separated by spaces; "..." before the last one of a variadic function.
        changes: true if it changes its first argument.
    """
    variadic = "..." in params
    types = tuple(params.replace("...", "").split())

    def put(call: Callable[..., Value]) -> Callable[..., Value]:
        for name in names.split():
            table[name] = Function(name, types, call, variadic, changes=changes)
        return call

    return put


class WrongType(Exception):
    """An argument does not have its parameter's type."""


def assigned(value: Value, type_key: str) -> Value:
    """Convert a value to an argument of a type, a key of `GO_TYPES`.

    Raises:
        WrongType: it cannot be converted.
    """
    if type_key == "any":
        return None if value is NO_VALUE else value
    if type_key == "value":
        return value
    if value is NO_VALUE:
        if type_key in _NULLABLE:
            return NilMap() if type_key == "map" else NilList() if type_key == "list" else None
        raise WrongType(f"invalid value; expected {GO_TYPES[type_key]}")
    name = "interface {}" if value is None else type_name(value)
    if name != GO_TYPES[type_key]:
        raise WrongType(f"wrong type for value; expected {GO_TYPES[type_key]}; got {name}")
    return value
