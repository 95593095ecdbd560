"""Replace a cluster's values in texts by placeholders, so that equal changes of clusters are equal texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHORTEST = 3  # characters; shorter values occur everywhere


class Placeholders:
    """Replace the values of one cluster or cell by `${cluster.name}`, `${facts.region}` and so on.

    Args:
        values: names and values; for equal values, the first name counts.
    """

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        self._names: dict[str, str] = {}
        for name, value in values:
            if len(value) >= _SHORTEST:
                self._names.setdefault(value, name)
        ordered = sorted(self._names, key=lambda value: (-len(value), value))
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)") if ordered else None

    def __call__(self, text: str, seen: dict[str, str]) -> str:
        """Replace the values in a text; adds the names that occur, with their values, to `seen`."""
        if self._pattern is None:
            return text

        def name(match: re.Match[str]) -> str:
            seen[self._names[match[0]]] = match[0]
            return f"${{{self._names[match[0]]}}}"

        return self._pattern.sub(name, text)
