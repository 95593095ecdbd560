"""Sprig's functions that choose."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import Value, kind_name, truth

TABLE: Final[Table] = {}


@function(TABLE, "default", "any ...any")
def _default(fallback: Value, *given: Value) -> Value:
    return given[0] if given and truth(given[0]) else fallback


@function(TABLE, "empty", "any")
def _empty(value: Value) -> bool:
    return not truth(value)


@function(TABLE, "coalesce", "...any")
def _coalesce(*values: Value) -> Value:
    return next(filter(truth, values), None)


@function(TABLE, "all", "...any")
def _all(*values: Value) -> bool:
    return all(map(truth, values))


@function(TABLE, "any", "...any")
def _any(*values: Value) -> bool:
    return any(map(truth, values))


@function(TABLE, "compact mustCompact", "any")
def _compact(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise CallProblem(_no_list(value, "Cannot compact on type {}"))
    return list(filter(truth, value))


def _no_list(value: Value, words: str) -> str:
    if value is None:
        return "runtime error: invalid memory address or nil pointer dereference"
    return words.format(kind_name(value))


@function(TABLE, "ternary", "any any bool")
def _ternary(yes: Value, no: Value, choice: bool) -> Value:
    return yes if choice else no


@function(TABLE, "fail", "string")
def _fail(message: str) -> Value:
    raise CallProblem(message)
