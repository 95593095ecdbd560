"""Scalars with the meaning that Kubernetes gives them: the values below its YAML documents."""

from __future__ import annotations

import math
import struct

Problem = tuple[str, int]
"""A remark about a text that is read nevertheless, and its line."""


def whole(number: float) -> int | float:
    """The integer that a float is, if it is one that fits into 64 bits."""
    return int(number) if number.is_integer() and abs(number) < 1 << 63 else number


def scalar_text(value: str | int | float) -> str:
    """A scalar as Kubernetes reads it where a text belongs, as keys are. Floats have 32 bits there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    from commodore.base.gotemplate import float_text

    return float_text(_single(value))


def _single(number: float) -> float:
    """The number of the fewest digits that is the same in 32 bits."""
    try:
        bits = struct.pack("<f", number)
    except OverflowError:
        return math.copysign(math.inf, number)
    return next(few for digits in range(1, 10) if struct.pack("<f", few := float(f"{number:.{digits}g}")) == bits)
