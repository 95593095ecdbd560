"""Cells as charts: values, and the unrendered templates, which Argo CD renders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from commodore.base.yaml import load
from commodore.fleet.chart_files import Chart
from commodore.fleet.repository.config import Prefix, in_path
from commodore.fleet.repository.model import Fleet
from commodore.fleet.values_text import as_yaml

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][\w-]*)\s*\}\}")


def chart_yaml(fleet: Fleet, chart: Chart, kind: str, cell: Prefix) -> bytes:
    """Return the `Chart.yaml` of a cell."""
    built_in = _built_in(fleet, kind, cell)
    if not chart.has_chart_yaml:
        return as_yaml(built_in).encode()
    text = chart.files["Chart.yaml"].decode("utf-8", "replace")
    words = {"cluster_type": kind, **dict(zip(fleet.config.singulars, cell, strict=True))}
    if any(match[1] in words for match in _PLACEHOLDER.finditer(text)):
        return _PLACEHOLDER.sub(lambda match: words.get(match[1], match[0]), text).encode()
    data = load(text, place="Chart.yaml")
    data = dict(data) if isinstance(data, dict) else {}
    return as_yaml({**data, "name": built_in["name"], "description": built_in["description"]}).encode()


def _built_in(fleet: Fleet, kind: str, cell: Prefix) -> dict[str, str]:
    if fleet.choices.chart_naming == "charts":
        return {
            "apiVersion": "v2",
            "name": f"{kind}-apps",
            "description": f"ArgoCD applications for {kind} in {in_path(cell)}",
            "version": "1.0.0",
        }
    return {
        "apiVersion": "v2",
        "name": f"{kind}-{'-'.join(cell)}",
        "description": f"Generated ArgoCD resources for {kind}/{in_path(cell)}",
        "type": "application",
        "version": "0.1.0",
        "appVersion": "1.0",
    }


def sample_cluster(fleet: Fleet, cell: Prefix, texts: Sequence[str]) -> dict[str, object]:
    """Return values of a fake cluster for all references in the texts."""
    sample: dict[str, object] = dict(zip(fleet.config.singulars, cell, strict=True))
    for text in texts:
        for match in _CLUSTER_VALUE.finditer(text):
            _put(sample, match[1].strip(".").split(".") if match[1] else [match[2]])
    given: Mapping[str, object] = fleet.config.generator.get("sample_cluster") or {}
    return {**sample, **given}


_CLUSTER_VALUE = re.compile(r"\.Values\.cluster((?:\.[A-Za-z_]\w*)+)|index\s+\$?\.Values\.cluster\s+\"([^\"]+)\"")


def _put(sample: dict[str, object], steps: Sequence[str]) -> None:
    for step in steps[:-1]:
        inner = sample.get(step)
        if not isinstance(inner, dict):
            inner = sample[step] = {}
        sample = inner
    sample.setdefault(steps[-1], f"sample-{steps[-1]}")


def cell_chart(fleet: Fleet, chart: Chart, kind: str, cell: Prefix, values: str) -> dict[str, bytes]:
    """Return the files of a cell, by path in its folder."""
    templates = {f"templates/{name}": text for name, text in chart.templates.items()}
    return {"Chart.yaml": chart_yaml(fleet, chart, kind, cell), "values.yaml": values.encode(), **templates}
