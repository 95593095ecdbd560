"""The chart of cells: the repository's own, or the built-in one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from commodore.base.files.tree import is_hidden, walk
from commodore.base.limits import Limits
from commodore.fleet.repository.files import read_bytes
from commodore.fleet.repository.model import Fleet

_BUILT_IN = Path(__file__).resolve().parent / "chart"
_CHART = b"apiVersion: v2\nname: fleet\nversion: 1.0.0\n"


@dataclass(frozen=True)
class Chart:
    """A chart's files by path: `Chart.yaml`, `values.yaml`, `templates/...` and others.

    Attributes:
        name: the name of its folder.
        own: true for a chart of the repository.
        has_chart_yaml: true if the repository defines the `Chart.yaml` of cells.
    """

    name: str
    files: Mapping[str, bytes]
    own: bool
    has_chart_yaml: bool

    @property
    def templates(self) -> dict[str, bytes]:
        """Return the templates of a cell's chart, by path within them."""
        return {
            path.removeprefix("templates/"): text for path, text in self.files.items() if path.startswith("templates/")
        }

    @cached_property
    def digest(self) -> str:
        digests = [(path, hashlib.sha256(text).hexdigest()) for path, text in sorted(self.files.items())]
        return hashlib.sha256(json.dumps([self.name, digests]).encode()).hexdigest()


def read_chart(fleet: Fleet, limits: Limits) -> Chart:
    """Read the chart of a fleet.

    Raises:
        InputError: CMD-FLT-006, a file of it cannot be read.
    """
    if fleet.choices.chart is None:
        resolve = "_plain.tpl" if fleet.choices.output == "manifests" else "_resolve.tpl"
        names = {
            "_resolve.tpl": resolve,
            "application.yaml": "application.yaml",
            "applicationset.yaml": "applicationset.yaml",
        }
        texts = {f"templates/{name}": (_BUILT_IN / source).read_bytes() for name, source in names.items()}
        return Chart("fleet", {"Chart.yaml": _CHART, **texts}, own=False, has_chart_yaml=False)
    folder = fleet.root / fleet.choices.chart
    contents = {str(path.relative_to(folder)): read_bytes(path, fleet.root, limits) for path in _files(folder)}
    has_chart_yaml = "Chart.yaml" in contents and fleet.choices.output == "charts"
    if any(path.startswith("templates/") for path in contents):  # a whole chart
        contents.setdefault("Chart.yaml", _CHART)
        return Chart(folder.name, contents, own=True, has_chart_yaml=has_chart_yaml)
    chart_yaml = contents.pop("Chart.yaml", _CHART)  # its placeholders are for cells, not for helm
    files = {"Chart.yaml": chart_yaml if has_chart_yaml else _CHART}
    for path, text in contents.items():
        name = path.rpartition("/")[2]
        if not (name.startswith("README") or (name.startswith("values") and name.endswith(".yaml"))):
            files[f"templates/{path}"] = text
    return Chart("fleet", files, own=True, has_chart_yaml=has_chart_yaml)


def _files(folder: Path) -> Iterator[Path]:
    for _, entry in walk(folder, skip=lambda child: is_hidden(child) and child.is_dir()):
        if not entry.is_dir():
            yield Path(entry.path)
