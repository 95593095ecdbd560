"""Sprig's functions about types."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import Object, Value, kind_name, type_name

TABLE: Final[Table] = {}


def deep_equal(left: Value, right: Value) -> bool:
    """Whether two values are equal in type and content (reflect.DeepEqual)."""
    if type_name(left) != type_name(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(deep_equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(deep_equal(left[key], right[key]) for key in left)
    if isinstance(left, Object) and isinstance(right, Object) and left.fields():
        return deep_equal(left.fields(), right.fields())
    return bool(left == right)


@function(TABLE, "deepEqual", "any any")
def _deep_equal(left: Value, right: Value) -> bool:
    return deep_equal(left, right)


@function(TABLE, "typeOf", "any")
def _type_of(value: Value) -> str:
    return type_name(value)


@function(TABLE, "typeIs", "string any")
def _type_is(wanted: str, value: Value) -> bool:
    return wanted == type_name(value)


@function(TABLE, "typeIsLike", "string any")
def _type_is_like(wanted: str, value: Value) -> bool:
    return type_name(value) in (wanted, "*" + wanted)


@function(TABLE, "kindOf", "any")
def _kind_of(value: Value) -> str:
    return kind_name(value)


@function(TABLE, "kindIs", "string any")
def _kind_is(wanted: str, value: Value) -> bool:
    return wanted == kind_name(value)
