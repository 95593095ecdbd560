"""Read and write numbers as Go does."""

from __future__ import annotations

import math
import re
from typing import Final

_DIGITS: Final = 4000
_UNDERSCORED: Final = re.compile(r"[+-]?(?:0[xXoObB]_?|0_?)?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_INTEGER: Final = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO](?P<oct>[0-7]+)|0(?P<old>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
)
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX_FLOAT: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_SPECIAL: Final = re.compile(r"[+-]?(?:inf|infinity)|nan", re.IGNORECASE)


def bounded_integer(text: str, base: int = 10) -> int:
    """Like int(), which refuses long texts: digits after the 4,000th are ignored, as the number exceeds all limits."""
    return int(text[:_DIGITS], base)


def parsed_integer(text: str) -> int | None:
    """Parse an integer of any size with a prefix for its base (strconv.ParseInt with base 0); None if it is invalid."""
    if "_" in text:
        if _UNDERSCORED.fullmatch(text) is None:
            return None
        text = text.replace("_", "")
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    base = {"hex": 16, "bin": 2, "oct": 8, "old": 8, "dec": 10}[match.lastgroup or "dec"]
    number = bounded_integer(match[match.lastgroup or 0], base)
    return -number if match["sign"] == "-" else number


def parsed_float(text: str, *, special: bool = False) -> float | None:
    """Parse a float as strconv.ParseFloat does; None if it is invalid or too large.

    Args:
        special: accept infinity and NaN.
    """
    if special and _SPECIAL.fullmatch(text):
        return float(text)
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return None
    if "_" in text or _FLOAT.fullmatch(text) is None:
        return None
    number = float(text)
    return None if math.isinf(number) else number


def float_text(number: float, form: str = "g", precision: int = -1) -> str:
    """Format a float as strconv.FormatFloat does.

    Args:
        form: "e", "f" or "g", or these in capitals.
        precision: digits; -1 for the fewest that represent the number exactly.
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign = "-" if math.copysign(1, number) < 0 else ""
    lower = form.lower()
    text = _unsigned(abs(number), lower, precision)
    return sign + (text.upper() if form != lower else text)


def _unsigned(number: float, form: str, precision: int) -> str:
    if precision < 0:
        digits, point = _shortest(number)
        if form == "e" or (form == "g" and not -4 <= point - 1 < 6):
            return _exponent_form(digits, point, len(digits) - 1)
        return _decimal_form(digits, point, max(len(digits) - point, 0))
    if form == "f":
        return f"{number:.{precision}f}"
    if form == "e":
        return _two_digit_exponent(f"{number:.{precision}e}")
    precision = precision or 1
    text = _two_digit_exponent(f"{number:.{precision - 1}e}")
    mantissa, _, exponent_text = text.partition("e")
    exponent = int(exponent_text)
    digits = (mantissa.replace(".", "")).rstrip("0") or "0"
    limit = len(digits) if precision > len(digits) and len(digits) >= exponent + 1 else precision
    if exponent < -4 or exponent >= limit:
        return _exponent_form(digits, exponent + 1, len(digits) - 1)
    return _decimal_form(digits, exponent + 1, max(len(digits) - exponent - 1, 0))


def _shortest(number: float) -> tuple[str, int]:
    """Return the fewest digits of a number, and the position of its point."""
    if number == 0:
        return "0", 1
    mantissa, _, exponent = f"{number!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = whole + fraction
    point = len(whole) + (int(exponent) if exponent else 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return stripped.rstrip("0") or "0", point


def _exponent_form(digits: str, point: int, places: int) -> str:
    fraction = digits[1 : 1 + places].ljust(places, "0")
    exponent = point - 1
    return digits[0] + ("." + fraction if fraction else "") + f"e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _decimal_form(digits: str, point: int, places: int) -> str:
    if point <= 0:
        whole, fraction = "0", "0" * -point + digits
    else:
        whole, fraction = digits[:point].ljust(point, "0"), digits[point:]
    fraction = fraction[:places].ljust(places, "0")
    return whole + ("." + fraction if fraction else "")


def _two_digit_exponent(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:]:0>2}"


def json_float(number: float) -> str:
    """Format a float as Go's JSON encoder does."""
    size = abs(number)
    if size != 0 and (size < 1e-6 or size >= 1e21):
        text = float_text(number, "e")
        return text[:-2] + text[-1] if text[-4:-1] == "e-0" else text
    return float_text(number, "f")
