"""Go's comparisons of values: eq, ne, lt, le, gt, ge."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.printing import plain, sprintf
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.values import NO_VALUE, Object, Uint8, Uint64, Value, type_name

_INVALID: Final = "invalid type for comparison"


def basic_kind(value: Value) -> str:
    """Return the kind that comparisons distinguish; empty for values without an order."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, float):
        return "float"
    if isinstance(value, int):
        return "uint" if isinstance(value, Uint64 | Uint8) else "int"
    return "string" if isinstance(value, str) else ""


def equal(first: Value, *others: Value) -> bool:
    """Return True if the first value equals one of the others.

    Raises:
        CallProblem: they cannot be compared.
    """
    if not others:
        raise CallProblem("missing argument for comparison")
    return any(_equal(first, other) for other in others)


def _equal(left: Value, right: Value) -> bool:
    kind, other = basic_kind(left), basic_kind(right)
    if kind != other and {kind, other} != {"int", "uint"}:
        if left in (None, NO_VALUE) or right in (None, NO_VALUE):
            return False
        raise _incompatible(left, right)
    if kind:
        return bool(left == right)
    left_nil, right_nil = left in (None, NO_VALUE), right in (None, NO_VALUE)
    if left_nil or right_nil:
        return left_nil and right_nil
    if isinstance(left, Object) and isinstance(right, Object):
        return left is right
    for value in (left, right):
        if not isinstance(value, Object):
            raise CallProblem(_not_comparable(left, right))
    return False


def _incompatible(left: Value, right: Value) -> CallProblem:
    return CallProblem(f"incompatible types for comparison: {type_name(left)} and {type_name(right)}")


def _not_comparable(left: Value, right: Value) -> str:
    if type_name(left) != type_name(right):
        return f"non-comparable types {sprintf('%s', [left])}: {type_name(left)}, {type_name(right)}: {plain(right)}"
    return f"non-comparable type {sprintf('%s', [right])}: {type_name(right)}"


def unequal(first: Value, second: Value) -> bool:
    """Return True if two values differ.

    Raises:
        CallProblem: they cannot be compared.
    """
    return not equal(first, second)


def less(first: Value, second: Value) -> bool:
    """Return True if the first value is less than the second.

    Raises:
        CallProblem: the values have no order.
    """
    kind, other = basic_kind(first), basic_kind(second)
    if not kind or not other:
        raise CallProblem(_INVALID)
    if kind != other and {kind, other} != {"int", "uint"}:
        raise _incompatible(first, second)
    if kind == "bool":
        raise CallProblem(_INVALID)
    if kind == "string":
        return bool(first.encode("utf-8", "surrogateescape") < second.encode("utf-8", "surrogateescape"))
    return bool(first < second)


def less_or_equal(first: Value, second: Value) -> bool:
    """Return True if the first value is less than or equal to the second.

    Raises:
        CallProblem: they have no order.
    """
    return less(first, second) or equal(first, second)


def greater(first: Value, second: Value) -> bool:
    """Return True if the first value is greater than the second.

    Raises:
        CallProblem: they have no order.
    """
    return not less_or_equal(first, second)


def greater_or_equal(first: Value, second: Value) -> bool:
    """Return True if the first value is greater than or equal to the second.

    Raises:
        CallProblem: they have no order.
    """
    return not less(first, second)
