"""Texts in which values of a cluster are replaced by their names, so that equal changes are seen to be equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from commodore.lieutenant import Cluster

_SHORTEST = 3  # characters; shorter values occur everywhere


class Normaliser:
    """Replaces the values of one cluster by `${cluster.name}`, `${facts.region}` and so on.

    Args:
        cluster: of equal values of several names, the first one counts: the cluster's own before facts.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._names: dict[str, str] = {}
        for name, value in _values(cluster):
            if len(value) >= _SHORTEST:
                self._names.setdefault(value, name)
        values = sorted(self._names, key=lambda value: (-len(value), value))
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, values))})(?!\w)") if values else None

    def __call__(self, text: str, found: dict[str, str]) -> str:
        """The text with names for values; `found` gets the names that occur, with their values."""
        if self._pattern is None:
            return text

        def name(match: re.Match[str]) -> str:
            found[self._names[match[0]]] = match[0]
            return f"${{{self._names[match[0]]}}}"

        return self._pattern.sub(name, text)


def _values(cluster: Cluster) -> Iterator[tuple[str, str]]:
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
