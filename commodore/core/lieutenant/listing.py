"""Output of `catalog list`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import yaml

from commodore.base.printable import cells, printable

ListFormat = Literal["json", "yaml", "yml", "id", "table"]
"""The output formats; `yml` is an alias of `yaml`."""

_COLUMNS = (("id", "ID"), ("displayName", "DISPLAY NAME"), ("tenant", "TENANT"))
_GAP = 2


def render_clusters(clusters: Sequence[Mapping[str, Any]], format: ListFormat) -> str:
    """Render clusters as text, including the last newline.

    Args:
        clusters: cluster objects of the API, in order; any key may be missing.
    """
    if format == "json":
        return json.dumps(clusters, indent=2) + "\n"
    if format in ("yaml", "yml"):
        return yaml.dump(list(clusters), Dumper=_Dumper, default_flow_style=False) + "\n"
    if format == "id":
        return "".join(f"{_cell(each, 'id')}\n" for each in clusters if _cell(each, "id"))
    return _table(clusters)


class _Dumper(yaml.SafeDumper):
    """YAML dumper without aliases. Not the C implementation, which writes empty keys differently."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _table(clusters: Sequence[Mapping[str, Any]]) -> str:
    rows = [[_cell(each, key) for key, _ in _COLUMNS] for each in clusters]
    # The published tool measures the keys, not the titles: "DISPLAY NAME" is longer by one, and one blank follows it.
    widths = [max([len(key), *(cells(row[column]) for row in rows)]) + _GAP for column, (key, _) in enumerate(_COLUMNS)]
    lines = [[title for _, title in _COLUMNS], *rows]
    return "".join("".join(map(_pad, line, widths)) + "\n" for line in lines)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def _cell(cluster: Mapping[str, Any], key: str) -> str:
    value = cluster.get(key)
    return "" if value is None else printable(str(value))
