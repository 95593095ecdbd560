"""Values as text for helm: YAML that helm reads with the same meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from commodore.base.yaml import dump_flush

# Texts that PyYAML writes unquoted and helm reads as numbers or booleans.
_READ_OTHERWISE = re.compile(
    r"[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|0[oO][0-7]+|0[xX][0-9a-fA-F]+|[yYnN]"
)


def is_read_otherwise(text: str) -> bool:
    """Return True if helm reads an unquoted text as another type."""
    return _READ_OTHERWISE.fullmatch(text) is not None


def as_yaml(value: Mapping[Any, Any]) -> str:
    """Write a map as YAML for helm.

    Raises:
        InputError: CMD-YAML-002, a value YAML has no form for.
    """
    return dump_flush(value, is_read_otherwise)


class ValuesWriter:
    """Writes the values of many cells, which share most items: each item is written once."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[object, str]] = {}

    def write(self, cluster: Mapping[str, str], values: Mapping[str, Mapping[str, Any]]) -> str:
        """Write both as `as_yaml` would.

        Args:
            cluster: the names of the cell by dimension; empty if they are not part of the values.
            values: section to item name to item.
        """
        text = as_yaml({"cluster": dict(cluster)}) if cluster else ""
        for section, items in values.items():
            text += as_yaml({section: {}}) if not items else as_yaml({section: None}).removesuffix(" null\n") + "\n"
            text += "".join(self._item(name, item) for name, item in items.items())
        return text or "{}\n"

    def _item(self, name: str, item: object) -> str:
        known = self._items.get(id(item)) if isinstance(item, dict) else None
        if known is None or known[0] is not item:
            text = as_yaml({"-": {name: item}}).partition("\n")[2]
            self._items[id(item)] = known = (item, text)
        return known[1]
