"""Scalars with the meaning that Kubernetes gives them."""

from __future__ import annotations

import math
import struct

Problem = tuple[str, int]
"""A warning about a text that is read nevertheless, and its line."""


def whole(number: float) -> int | float:
    """Return a float as an integer, if it is one of 64 bits."""
    return int(number) if number.is_integer() and abs(number) < 1 << 63 else number


def scalar_text(value: str | int | float) -> str:
    """Return a scalar as Kubernetes reads it in place of a text, such as a key. Floats have 32 bits there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    from commodore.base.gotemplate import float_text

    return float_text(_single(value))


def _single(number: float) -> float:
    """Return the number with the fewest digits that is equal in 32 bits."""
    try:
        bits = struct.pack("<f", number)
    except OverflowError:
        return math.copysign(math.inf, number)
    return next(few for digits in range(1, 10) if struct.pack("<f", few := float(f"{number:.{digits}g}")) == bits)
