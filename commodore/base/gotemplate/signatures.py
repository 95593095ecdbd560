"""What a function takes, in Go's types: callers' mistakes are said in Go's words."""

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
    """A function of templates: its parameters' types (keys of `GO_TYPES`), and what it does.

    A `variadic` function takes any number of arguments of its last parameter's type.
    """

    name: str
    params: tuple[str, ...]
    call: Callable[..., Value]
    variadic: bool = False
    refused: bool = False  # gives another value at every run
    changes: bool = False  # changes its first argument

    def param(self, index: int) -> str:
        """The type of an argument."""
        return self.params[min(index, len(self.params) - 1)]


Table = dict[str, Function]


def function(
    table: Table, names: str, params: str = "", *, changes: bool = False
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Put the decorated function into a table.

    Args:
        table: where it goes.
        names: its names, separated by spaces.
        params: types of its parameters, separated by spaces; "..." before the last one of a variadic function.
        changes: whether it changes its first argument.
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


def assigned(value: Value, wanted: str) -> Value:
    """A value as an argument of a type, a key of `GO_TYPES`.

    Raises:
        WrongType: it cannot be one.
    """
    if wanted == "any":
        return None if value is NO_VALUE else value
    if wanted == "value":
        return value
    if value is NO_VALUE:
        if wanted in _NULLABLE:
            return NilMap() if wanted == "map" else NilList() if wanted == "list" else None
        raise WrongType(f"invalid value; expected {GO_TYPES[wanted]}")
    name = "interface {}" if value is None else type_name(value)
    if name != GO_TYPES[wanted]:
        raise WrongType(f"wrong type for value; expected {GO_TYPES[wanted]}; got {name}")
    return value
