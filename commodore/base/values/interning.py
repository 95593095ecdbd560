"""Plain data of which equal parts exist once: the parameters of one target are nearly those of any other.

A value becomes a number in a table of records. A record is a map of numbers, as far down as maps are taken apart, or a
whole value below that. Equal values get equal numbers, whatever they were made by.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SHARED_LEVELS = 3
"""The levels of maps of a target's node that are taken apart: the node, its parameters, each of them. What components
have in their parameters differs between targets where it names the instance, which is little of it."""
_DIGESTED = 48  # longer texts are compared by their digest


@dataclass(frozen=True, slots=True)
class Branch:
    """A map that was taken apart: the number of the record of each of its values."""

    numbers: Mapping[Any, int]


Record = Branch | Any
"""What a number stands for: a `Branch`, or a whole value."""


class InternTable:
    """A table of values. What it is given and gives must not be changed.

    Args:
        depth: how many levels of maps are taken apart.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._numbers: dict[bytes, int] = {}
        self._known: dict[tuple[int, int], int] = {}
        self._values: list[Any] = []
        self.records: list[Record] = []

    def add(self, value: Any) -> int:
        """The number of a value.

        Raises:
            ValueError: it holds something else than plain data.
        """
        return self._add(value, self._depth)

    def value(self, number: int) -> Any:
        """The value of a number; the same object each time."""
        return self._values[number]

    def share(self, value: Any) -> Any:
        """A value that is equal to this one, made of parts that others have, too.

        Raises:
            ValueError: it holds something else than plain data.
        """
        return self._values[self._add(value, self._depth)]

    def _add(self, value: Any, depth: int) -> int:
        # What is in the table lives as long as the table, so that its identity tells it.
        known = self._known.get((id(value), depth))
        if known is not None:
            return known
        if depth and type(value) is dict:
            numbers = {key: self._add(inner, depth - 1) for key, inner in value.items()}
            if any(self._values[number] is not value[key] for key, number in numbers.items()):
                value = {key: self._values[number] for key, number in numbers.items()}
            return self._enter(b"{" + marshal.dumps(numbers, 2), Branch(numbers), value, depth)
        # Version 2: the same bytes for equal values; later ones tell also which of them are one object.
        return self._enter(b" " + marshal.dumps(value, 2), value, value, depth)

    def _enter(self, content: bytes, record: Record, value: Any, depth: int) -> int:
        key = content if len(content) <= _DIGESTED else hashlib.sha256(content).digest()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.records)
            self.records.append(record)
            self._values.append(value)
            if isinstance(value, dict | list):
                self._known[id(value), depth] = number
        return number
