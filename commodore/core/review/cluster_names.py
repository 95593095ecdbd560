"""Texts in which values of a cluster are replaced by their names, so that equal changes are seen to be equal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commodore.core.lieutenant import Cluster

_SHORTEST = 3  # characters; shorter values occur everywhere


class Normaliser:
    """Replaces the values of one cluster or cell by `${cluster.name}`, `${facts.region}` and so on.

    Args:
        values: names and values; of equal values of several names, the first one counts.
    """

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        self._names: dict[str, str] = {}
        for name, value in values:
            if len(value) >= _SHORTEST:
                self._names.setdefault(value, name)
        ordered = sorted(self._names, key=lambda value: (-len(value), value))
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)") if ordered else None

    def __call__(self, text: str, found: dict[str, str]) -> str:
        """The text with names for values; `found` gets the names that occur, with their values."""
        if self._pattern is None:
            return text

        def name(match: re.Match[str]) -> str:
            found[self._names[match[0]]] = match[0]
            return f"${{{self._names[match[0]]}}}"

        return self._pattern.sub(name, text)


def values_of(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """The values of a cluster with their names: its own before facts."""
    yield "cluster.name", cluster.id
    yield "cluster.display_name", cluster.display_name
    yield "cluster.tenant", cluster.tenant.id
    yield "cluster.catalog_url", cluster.catalog_url
    yield from _texts("facts", cluster.facts)
    yield from _texts("dynamic_facts", cluster.dynamic_facts)


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key in value:
            yield from _texts(f"{name}.{key}", value[key])
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield name, str(value)
