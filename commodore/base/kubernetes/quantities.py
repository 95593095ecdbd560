"""Quantities in the canonical form of Kubernetes."""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([KMGTPE]i|[numkMGTPE]?))")
_DECIMAL = {-3: "n", -2: "u", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P", 6: "E"}
_DECIMAL_POWERS = {suffix: power for power, suffix in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_LONGEST = 100
_NANO = 10**9


def canonical_quantity(value: object) -> str | None:
    """Return the canonical form of a quantity: `1000m` is `1`, `0.5Gi` is `512Mi`; None if it is invalid."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    match = _QUANTITY.fullmatch(str(value).strip())
    if match is None or len(match[0]) > _LONGEST:
        return None
    sign, digits, exponent, suffix = match.groups()
    number = Fraction(digits.rstrip(".") if digits != "." else "0") * (-1 if sign == "-" else 1)
    if exponent is not None:
        if abs(int(exponent[1:])) > _LONGEST:
            return None
        return _decimal(number * Fraction(10) ** int(exponent[1:]), exponents=True)
    if suffix.endswith("i"):
        return _binary(number * 1024 ** _BINARY.index(suffix))
    return _decimal(number * Fraction(1000) ** _DECIMAL_POWERS[suffix])


def _decimal(number: Fraction, *, exponents: bool = False) -> str:
    """Format a number with the largest suffix that keeps it whole; rounded away from zero to at least a billionth."""
    nano = _away_from_zero(number * _NANO)
    if nano == 0:
        return "0"
    power = -3
    while nano % 1000 == 0 and power < 6:
        nano //= 1000
        power += 1
    if exponents:
        return f"{nano}e{power * 3}" if power else str(nano)
    return f"{nano}{_DECIMAL[power]}"


def _binary(number: Fraction) -> str:
    if abs(number) < 1024 or number.denominator != 1:
        return _decimal(number)
    whole, power = int(number), 0
    while whole % 1024 == 0 and power < 6:
        whole //= 1024
        power += 1
    return f"{whole}{_BINARY[power]}"


def _away_from_zero(number: Fraction) -> int:
    whole = -(-abs(number.numerator) // number.denominator)
    return whole if number >= 0 else -whole
