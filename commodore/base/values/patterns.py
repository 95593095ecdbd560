"""Match foreign patterns, such as globs, in bounded time.

Python's engine tries all ways in which a pattern may match. `fits` tracks the reachable positions instead, so its time
depends on the lengths of pattern and text only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

MANY_STEPS: Final = 10**7  # the most steps of Python's engine
_LONG: Final = 10  # a longer repetition counts as unbounded
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_HUGE: Final = 1e100


def fits(pattern: re.Pattern[str], text: str) -> bool:
    """Match a whole text against a pattern of characters, classes, repetitions, groups and choices."""
    if steps(pattern, len(text)) <= MANY_STEPS:
        return pattern.fullmatch(text) is not None
    return len(text) in _ends(_parsed(pattern), text, {0})


def steps(pattern: re.Pattern[str], length: int) -> float:
    """Return an upper bound of the steps of Python's engine for a text of some length."""
    shape = _shape(pattern)
    if shape.nested:
        return min(3.0 ** min(length, 100) * shape.choices, _HUGE)
    return min(float(max(length, 1)) ** min(shape.repetitions + 1, 15) * shape.choices, _HUGE)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The shape of a pattern: nested choices in repetitions, the number of repetitions, the combinations of choices."""

    nested: bool = False
    repetitions: int = 0
    choices: float = 1.0


@functools.lru_cache(maxsize=512)
def _shape(pattern: re.Pattern[str]) -> _Shape:
    return _shape_of(_parsed(pattern), inside=False)


@functools.lru_cache(maxsize=512)
def _parsed(pattern: re.Pattern[str]) -> Any:
    from re import _parser  # type: ignore[attr-defined]

    return _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


def _shape_of(parsed: Iterable[Any], *, inside: bool) -> _Shape:
    nested, repetitions, choices = False, 0, 1.0
    for code, arguments in parsed:
        name = str(code)
        nested = nested or (inside and (name in _REPEATS or name == "BRANCH"))
        if name in _REPEATS:
            low, high, inner = arguments
            endless = high > _LONG
            shape = _shape_of(inner, inside=inside or endless)
            repetitions += 1 + shape.repetitions if endless else shape.repetitions * high
            choices *= shape.choices if endless else sum(shape.choices**number for number in range(low, high + 1))
        elif name == "BRANCH":
            shapes = [_shape_of(part, inside=inside) for part in arguments[1]]
            shape = _Shape(any(shape_of_choice.nested for shape_of_choice in shapes))
            repetitions += max(shape_of_choice.repetitions for shape_of_choice in shapes)
            choices *= sum(shape_of_choice.choices for shape_of_choice in shapes)
        else:
            shape = _shape_of(_within(name, arguments), inside=inside)
            repetitions += shape.repetitions
            choices *= shape.choices
        nested = nested or shape.nested
        choices = min(choices, _HUGE)
    return _Shape(nested, repetitions, choices)


def _within(name: str, arguments: Any) -> Any:
    return arguments[-1] if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT") else []


def _ends(parsed: Iterable[Any], text: str, starts: set[int]) -> set[int]:
    """Return the positions that a pattern may reach from others."""
    for code, arguments in parsed:
        if not starts:
            break
        starts = _ends_of(str(code), arguments, text, starts)
    return starts


def _ends_of(name: str, arguments: Any, text: str, starts: set[int]) -> set[int]:
    match name:
        case "SUBPATTERN":
            return _ends(arguments[-1], text, starts)
        case "BRANCH":
            return {end for part in arguments[1] for end in _ends(part, text, starts)}
        case "ASSERT_NOT":
            return {start for start in starts if not _ends(arguments[-1], text, {start})}
        case "MAX_REPEAT":
            low, high, inner = arguments
            return _ends_of_repetition(low, high, inner, text, starts)
        case _:
            return {at + 1 for at in starts if at < len(text) and _is(name, arguments, ord(text[at]))}


def _ends_of_repetition(low: int, high: int, inner: Any, text: str, starts: set[int]) -> set[int]:
    ends = set(starts) if low == 0 else set()
    number = 0
    while starts and number < high:
        number += 1
        starts = _ends(inner, text, starts) - ends
        if number >= low:
            ends |= starts
    return ends


def _is(name: str, arguments: Any, character: int) -> bool:
    """Match a character against an item of a parsed pattern."""
    match name:
        case "ANY":
            return True
        case "LITERAL":
            return bool(character == arguments)
        case "NOT_LITERAL":
            return bool(character != arguments)
        case "RANGE":
            return bool(arguments[0] <= character <= arguments[1])
        case "IN":
            negated = str(arguments[0][0]) == "NEGATE"
            inside = any(_is(str(code), argument, character) for code, argument in arguments[negated:])
            return inside is not negated
        case _:
            raise ValueError(f"unsupported pattern item {name}")
