"""Plain data with shared equal parts: the parameters of a target are mostly equal to those of the others.

A value becomes a number in a table of records. A record is a map of numbers, down to a given depth, or a whole value
below that. Equal values get equal numbers.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SHARED_LEVELS = 3
"""The depth of maps in a target's node that are split: the node, its parameters, each of them. Parameters of components
differ between targets only where they name the instance."""
_DIGESTED = 48  # longer texts are compared by their digest


@dataclass(frozen=True, slots=True)
class Branch:
    """A map that was split: the record number of each of its values."""

    numbers: Mapping[Any, int]


Record = Branch | Any
"""A record: a `Branch`, or a whole value."""


class InternTable:
    """A table of values. Its arguments and results must not be changed.

    Args:
        depth: the depth of maps that are split.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._numbers: dict[bytes, int] = {}
        self._known: dict[tuple[int, int], int] = {}
        self._values: list[Any] = []
        self.records: list[Record] = []

    def add(self, value: Any) -> int:
        """Return the number of a value.

        Raises:
            ValueError: it holds other types than plain data.
        """
        return self._add(value, self._depth)

    def value(self, number: int) -> Any:
        """Return the value of a number; the same object each time."""
        return self._values[number]

    def share(self, value: Any) -> Any:
        """Return an equal value that shares parts with others.

        Raises:
            ValueError: it holds other types than plain data.
        """
        return self._values[self._add(value, self._depth)]

    def _add(self, value: Any, depth: int) -> int:
        # Values in the table live as long as the table, so that their ids identify them.
        known = self._known.get((id(value), depth))
        if known is not None:
            return known
        if depth and type(value) is dict:
            numbers = {key: self._add(inner, depth - 1) for key, inner in value.items()}
            if any(self._values[number] is not value[key] for key, number in numbers.items()):
                value = {key: self._values[number] for key, number in numbers.items()}
            return self._enter(b"{" + marshal.dumps(numbers, 2), Branch(numbers), value, depth)
        # Version 2: the same bytes for equal values; later versions also encode object identity.
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
