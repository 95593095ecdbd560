"""Names of files in a fleet's repository, and the style that they imply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from commodore.base.errors import InputError
from commodore.fleet.repository.config import FleetConfig, Style
from commodore.fleet.repository.model import Choices

CONFIG = "config"
RENDERED = "rendered"
BASE = "values.yaml"
METADATA = "metadata.yaml"
OWNERS = "OWNERS"
PATCHES = "patches"
OVERRIDES = ("override.yaml", "values.yaml")
DEFAULTS = "defaults.yaml"
APPLICATION_DEFAULTS = "application-defaults.yaml"
CHARTS = ("argocd-apps", "templates")
IN_OTHER_PLACES = (METADATA, OWNERS, "OWNERS_ALIASES")


def is_patch(name: str) -> bool:
    """Return True if a file in a folder of overrides is a patch, by its name."""
    return name.startswith("patch-") and name.endswith(".yaml")


def choose(root: Path, config: FleetConfig, types: Sequence[str]) -> Choices:
    """Choose the form of the output by the configuration, otherwise by the existing files.

    Raises:
        InputError: CMD-FLT-009, there are files of both styles; CMD-FLT-003, `generator.chart` is not a folder of the
            repository.
    """
    said: Mapping[str, Any] = config.generator
    style = said.get("style") or _style(root, types)
    charts = style == "charts"
    levels: dict[bool, Literal["last", "by-level"]] = {True: "last", False: "by-level"}
    chosen = said.get("promotion_level")
    depth = config.depth if charts else min(2, config.depth)
    return Choices(
        said.get("output") or style,
        said.get("patches") or levels[charts],
        said.get("inject_dimensions", not charts),
        said.get("chart_naming") or style,
        config.dimensions.index(chosen) + 1 if chosen else depth,
        _chart(root, config),
    )


def _style(root: Path, types: Sequence[str]) -> Style:
    folders = [root / CONFIG, *(root / CONFIG / name for name in types)]
    charts = [path for folder in folders if (path := folder / APPLICATION_DEFAULTS).is_file()]
    manifests = [
        path
        for path in (root / CHARTS[0] / "Chart.yaml", *(folder / DEFAULTS for folder in folders[1:]))
        if path.is_file()
    ]
    if charts and manifests:
        ours, theirs = charts[0].relative_to(root), manifests[0].relative_to(root)
        raise InputError(
            "CMD-FLT-009",
            f"{ours} is of style charts, {theirs} of style manifests",
            hint="set generator.style in config/config.yaml",
            locations=[str(ours), str(theirs)],
        )
    return "manifests" if manifests else "charts"


def _chart(root: Path, config: FleetConfig) -> str | None:
    """Return the folder of the chart, relative to the root; None for the built-in chart."""
    said = config.generator.get("chart")
    if said is None:
        return next((name for name in CHARTS if (root / name).is_dir()), None)
    path = Path(said)
    if path.is_absolute() or ".." in path.parts or not (root / path).is_dir():
        raise InputError(
            "CMD-FLT-003",
            f"{config.document.place}: /generator/chart is {said!r}, must be a folder of the repository",
            hint="give it relative to the root of the repository",
            locations=[config.document.at(("generator", "chart"))],
        )
    return str(said)
