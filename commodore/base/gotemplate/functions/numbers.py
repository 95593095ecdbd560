"""Sprig's functions for numbers."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Final

from commodore.base.gotemplate.numbers import bounded_integer, parsed_float, parsed_integer
from commodore.base.gotemplate.printing import plain
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import Int64, Ints, Value, wrapped64

TABLE: Final[Table] = {}
_MOST: Final = 1_000_000  # the most numbers of until, untilStep and seq
_LARGEST: Final = (1 << 63) - 1


def to_int(value: Value) -> int:
    """Convert a value to an integer; 0 for other values."""
    if isinstance(value, int):
        return wrapped64(int(value))
    if isinstance(value, float):
        if math.isnan(value) or not -(2.0**63) <= value < 2.0**63:
            return -(1 << 63)
        return int(value)
    if isinstance(value, str):
        number = parsed_integer(_without_zeros(value))
        return number if number is not None and -(1 << 63) <= number <= _LARGEST else 0
    return 0


def _without_zeros(text: str) -> str:
    """Remove the fraction if it has zeros only."""
    return re.sub(r"\.0*\Z", "", text) if re.search(r"\.0+\Z", text) else text


def to_float(value: Value) -> float:
    """Convert a value to a float; 0 for other values."""
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        return parsed_float(value, special=True) or 0.0
    return 0.0


@function(TABLE, "int", "any")
def _int(value: Value) -> int:
    return to_int(value)


@function(TABLE, "int64", "any")
def _int64(value: Value) -> Int64:
    return Int64(to_int(value))


@function(TABLE, "float64", "any")
def _float64(value: Value) -> float:
    return to_float(value)


@function(TABLE, "atoi", "string")
def _atoi(text: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) is None:
        return 0
    return max(-(1 << 63), min(bounded_integer(text), _LARGEST))


@function(TABLE, "toDecimal", "any")
def _to_decimal(value: Value) -> Int64:
    text = plain(value)
    if re.fullmatch(r"[+-]?[0-7]+", text, re.ASCII) is None:
        return Int64(0)
    return Int64(max(-(1 << 63), min(int(text, 8), _LARGEST)))


def _steps(start: int, stop: int, step: int) -> list[int]:
    if (stop < start and step >= 0) or (stop >= start and step <= 0):
        return []
    if abs(stop - start) // abs(step) > _MOST:
        raise OverflowError
    return list(range(start, stop, step))


@function(TABLE, "until", "int")
def _until(count: int) -> Ints:
    return Ints(_steps(0, count, -1 if count < 0 else 1))


@function(TABLE, "untilStep", "int int int")
def _until_step(start: int, stop: int, step: int) -> Ints:
    return Ints(_steps(start, stop, step))


@function(TABLE, "seq", "...int")
def _seq(*params: int) -> str:
    match len(params):
        case 1:
            start, end = 1, params[0]
            step = increment = -1 if end < start else 1
        case 2:
            start, end = params
            step = increment = -1 if end < start else 1
        case 3:
            start, step, end = params
            increment = -1 if end < start else 1
            if end < start and step > 0:
                return ""
        case _:
            return ""
    return " ".join(map(str, _steps(start, end + increment, step)))


@function(TABLE, "add1", "any")
def _add1(value: Value) -> Int64:
    return Int64(wrapped64(to_int(value) + 1))


@function(TABLE, "add", "...any")
def _add(*values: Value) -> Int64:
    return Int64(wrapped64(sum(map(to_int, values))))


@function(TABLE, "sub", "any any")
def _sub(left: Value, right: Value) -> Int64:
    return Int64(wrapped64(to_int(left) - to_int(right)))


@function(TABLE, "mul", "any ...any")
def _mul(first: Value, *others: Value) -> Int64:
    result = to_int(first)
    for other in others:
        result = wrapped64(result * to_int(other))
    return Int64(result)


def _divided(left: Value, right: Value) -> tuple[int, int]:
    over, under = to_int(left), to_int(right)
    if under == 0:
        raise CallProblem("runtime error: integer divide by zero")
    quotient = abs(over) // abs(under) * (1 if (over < 0) == (under < 0) else -1)
    return wrapped64(quotient), over - quotient * under


@function(TABLE, "div", "any any")
def _div(left: Value, right: Value) -> Int64:
    return Int64(_divided(left, right)[0])


@function(TABLE, "mod", "any any")
def _mod(left: Value, right: Value) -> Int64:
    return Int64(_divided(left, right)[1])


def _decimal(value: Value) -> Decimal:
    number = to_float(value)
    if math.isnan(number) or math.isinf(number):
        name = "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
        raise CallProblem(f"Cannot create a Decimal from {name}")
    return Decimal(repr(number))


def _calculated(first: Decimal, others: tuple[Value, ...], sign: str) -> float:
    result = first
    with localcontext() as context:
        context.prec = 800
        for other in others:
            number = _decimal(other)
            if sign == "+":
                result += number
            elif sign == "-":
                result -= number
            elif sign == "*":
                result *= number
            elif number == 0:
                raise CallProblem("decimal division by 0")
            else:
                result = (result / number).quantize(Decimal(1).scaleb(-16), rounding=ROUND_HALF_UP)
    return float(result) + 0.0  # a decimal has no negative zero


@function(TABLE, "add1f", "any")
def _add1f(value: Value) -> float:
    return _calculated(_decimal(value), (1,), "+")


@function(TABLE, "addf", "...any")
def _addf(*values: Value) -> float:
    return _calculated(Decimal(0), values, "+")


@function(TABLE, "subf", "any ...any")
def _subf(first: Value, *others: Value) -> float:
    return _calculated(_decimal(first), others, "-")


@function(TABLE, "mulf", "any ...any")
def _mulf(first: Value, *others: Value) -> float:
    return _calculated(_decimal(first), others, "*")


@function(TABLE, "divf", "any ...any")
def _divf(first: Value, *others: Value) -> float:
    return _calculated(_decimal(first), others, "/")


@function(TABLE, "biggest max", "any ...any")
def _max(first: Value, *others: Value) -> Int64:
    return Int64(max(map(to_int, (first, *others))))


@function(TABLE, "min", "any ...any")
def _min(first: Value, *others: Value) -> Int64:
    return Int64(min(map(to_int, (first, *others))))


@function(TABLE, "maxf", "any ...any")
def _maxf(first: Value, *others: Value) -> float:
    return max(map(to_float, (first, *others)))


@function(TABLE, "minf", "any ...any")
def _minf(first: Value, *others: Value) -> float:
    return min(map(to_float, (first, *others)))


def _whole(number: float, up: bool) -> float:
    if math.isnan(number) or math.isinf(number):
        return number
    return math.copysign(float(math.ceil(number) if up else math.floor(number)), number)


@function(TABLE, "ceil", "any")
def _ceil(value: Value) -> float:
    return _whole(to_float(value), True)


@function(TABLE, "floor", "any")
def _floor(value: Value) -> float:
    return _whole(to_float(value), False)


def _power_of_ten(exponent: int) -> float:
    """Return a power of 10, rounded as by Go's library to the last bit."""
    if abs(exponent) > 400:
        return 0.0 if exponent < 0 else math.inf
    result, total = 1.0, 0
    base, scale = math.frexp(10.0)
    left = abs(exponent)
    while left:
        if left & 1:
            result *= base
            total += scale
        base *= base
        scale *= 2
        if base < 0.5:
            base += base
            scale -= 1
        left >>= 1
    if exponent < 0:
        result, total = 1 / result, -total
    try:
        return math.ldexp(result, total)
    except OverflowError:
        return math.inf


@function(TABLE, "round", "any int ...float64")
def _round(value: Value, places: int, *on: float) -> float:
    limit = on[0] if on else 0.5
    power = _power_of_ten(places)
    digit = power * to_float(value)
    fraction = math.modf(digit)[0] if math.isfinite(digit) else digit
    whole = _whole(digit, fraction >= limit)
    if power == 0:
        return math.nan if whole == 0 else math.copysign(math.inf, whole)
    return whole / power
