"""Possible sources of a manifest: the component, compile entries by their output paths, filters by their paths."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.workspace import Workspace
from commodore.base.yaml import load
from commodore.catalog.stages.components import INSTALLED
from commodore.catalog.stages.explaining.model import CompileEntry, ComponentCheckout, ExplainedChart, FilterUse
from commodore.core.inventory import check_filter
from commodore.core.sources.git import Git, find_root, inspect, redact

_WRITES_NOTHING = ("remove",)
_CHART_FILE_BYTES = 1 << 20


def repository_of(
    directory: Path, listed: Any, instance: str, component: str, context: Context
) -> ComponentCheckout | None:
    """Return the checkout of a component, without network access.

    Args:
        directory: the instance's component directory.
        listed: `parameters.components`.
    """
    if not directory.is_dir():
        return None
    version = _version(listed, instance) or _version(listed, component)
    root = find_root(directory, context)
    if root is None:
        return ComponentCheckout("", version, "", "", changed=False)
    real = Path(os.path.realpath(directory))
    inner = real.relative_to(root).as_posix() if real.is_relative_to(root) else "."
    remote = Git(root, context).run(["config", "--get", "remote.origin.url"], check=False)
    try:
        changes = inspect(root, context)
    except CommodoreError:  # the repository is broken: report at least the version
        return ComponentCheckout(redact(remote.text), version, "", "", changed=False)
    changed = bool(changes.modified or changes.untracked)
    return ComponentCheckout(redact(remote.text), version, changes.head or "", "" if inner == "." else inner, changed)


def _version(listed: Any, name: str) -> str:
    entry = listed.get(name) if isinstance(listed, Mapping) else None
    version = entry.get("version") if isinstance(entry, Mapping) else None
    return version if isinstance(version, str) else ""


def entries_for(parameters: Mapping[str, Any], path: str, workspace: Workspace) -> tuple[CompileEntry, ...]:
    """Return the compile entries whose output path contains the manifest, in order.

    Args:
        parameters: the instance's rendered parameters.
        path: the manifest's path in the instance's output folder.
    """
    return tuple(entry for entry in _entries(parameters, workspace) if _covers(entry.output_path, path))


def _entries(parameters: Mapping[str, Any], workspace: Workspace) -> Iterator[CompileEntry]:
    settings = parameters.get("kapitan")
    settings = settings if isinstance(settings, Mapping) else {}
    listed, fetched = settings.get("compile"), settings.get("dependencies")
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(entry, Mapping) or entry.get("input_type") in _WRITES_NOTHING:
            continue
        output = os.path.normpath(str(entry.get("output_path") or "."))
        paths = entry.get("input_paths")
        inputs = tuple(map(str, paths)) if isinstance(paths, list) else ()
        kind = str(entry.get("input_type"))
        charts = tuple(_charts(inputs, fetched, workspace)) if kind == "helm" else ()
        shown = tuple(path.removeprefix(f"{workspace.root}/") for path in inputs)
        yield CompileEntry(index, kind, shown, output, entry, charts)


def charts_for(parameters: Mapping[str, Any], workspace: Workspace) -> tuple[ExplainedChart, ...]:
    """Return the charts of an instance."""
    return tuple(dict.fromkeys(chart for entry in _entries(parameters, workspace) for chart in entry.charts))


def filters_for(parameters: Mapping[str, Any], path: str) -> tuple[FilterUse, ...]:
    """Return the filters whose folder contains the manifest, in the order in which they run."""
    value: Any = parameters
    for key in ("commodore", "postprocess", "filters"):
        value = value.get(key) if isinstance(value, Mapping) else None
    uses = []
    for index, definition in enumerate(value if isinstance(value, list) else ()):
        if check_filter(definition) is None and _covers(definition["path"], path):
            enabled = bool(definition.get("enabled", True))
            uses.append(
                FilterUse(index, definition["type"], definition["filter"], definition["path"], enabled, definition)
            )
    return tuple(uses)


def _covers(folder: str, path: str) -> bool:
    folder = os.path.normpath(folder)
    return folder == "." or path == folder or path.startswith(folder + "/")


def _charts(inputs: Sequence[str], fetched: Any, workspace: Workspace) -> Iterator[ExplainedChart]:
    for path in inputs:
        places = (Path(folder, path) for folder in (workspace.vendor, workspace.root, INSTALLED))
        folder = next((place for place in places if (place / "Chart.yaml").is_file()), None)
        if folder is None:
            continue
        about = _chart_file(folder / "Chart.yaml")
        source = _source(Path(os.path.normpath(folder)), fetched, workspace)
        yield ExplainedChart(str(about.get("name", "")), str(about.get("version", "")), path, source)


def _chart_file(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            about = load(file.read(_CHART_FILE_BYTES), place=str(path))
    except (OSError, CommodoreError):
        return {}
    return about if isinstance(about, Mapping) else {}


def _source(folder: Path, fetched: Any, workspace: Workspace) -> str:
    for entry in fetched if isinstance(fetched, list) else ():
        if not isinstance(entry, Mapping) or not isinstance(entry.get("output_path"), str):
            continue
        place = Path(os.path.normpath(workspace.root / entry["output_path"]))
        if folder == place or folder.is_relative_to(place):
            return redact(str(entry.get("source", "")))
    return ""
