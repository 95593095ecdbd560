"""Preview the objects that Argo CD applies in a cell: render its chart with the ApplicationSet's values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InputError, UsageError
from commodore.base.fields import kind_of
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import guard_disk
from commodore.base.yaml import load, load_rendered
from commodore.fleet.charts import sample_cluster
from commodore.fleet.generating import GenerateOptions, Selection, check_known, prepare
from commodore.fleet.helm import Helm, HelmRefused
from commodore.fleet.output import cell_folder
from commodore.fleet.repository.config import FleetConfig, Prefix, in_path, read_config
from commodore.fleet.values_text import as_yaml


def preview(root: Path, cell: str, kind: str | None, cluster_values: Path | None, context: Context) -> list[Any]:
    """Return the objects that Argo CD's helm renders for a cell.

    Args:
        cell: such as `prod/eu-1`; the type may be in front.
        kind: the cluster type, required if it is not in front of the cell and there are several.
        cluster_values: a YAML file with a cluster's values; by default sample values.

    Raises:
        CommodoreError: errors of the fleet; CMD-FLT-090, the cell or type is unknown; CMD-FLT-093, helm failed.
    """
    config = read_config(root, context.limits)
    kind, prefix = find_cell(config, cell, kind)
    names = {dimension: (name,) for dimension, name in zip(config.dimensions, prefix, strict=True)}
    done = prepare(root, GenerateOptions(Selection((kind,), names), need_helm=True), context)
    folder = cell_folder(kind, prefix)
    files = {path: text for path, text in done.output.files.items() if path.startswith(f"{folder}/")}
    texts = [text.decode("utf-8", "replace") for text in files.values()]
    cluster = sample_cluster(done.fleet, prefix, texts)
    if cluster_values is not None:
        cluster = {**dict(zip(config.singulars, prefix, strict=True)), **_read_cluster(cluster_values)}
    with temporary_folder() as place, temporary_folder() as scratch, guard_disk(place):
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(text)
        try:
            printed = Helm(scratch, context).template(f"{kind}-apps", place / folder, as_yaml({"cluster": cluster}))
        except HelmRefused as refused:
            raise InputError(
                "CMD-FLT-093",
                f"Argo CD's own pass of helm would fail in {cell_folder(kind, prefix)}: {refused.reason}",
                hint="give the values that it asks for with --values, or escape what it should leave alone",
            ) from refused
    return [document for document in load_rendered(printed, place=folder) if document is not None]


def find_cell(config: FleetConfig, cell: str, kind: str | None) -> tuple[str, Prefix]:
    """Return the selected type and cell.

    Raises:
        UsageError: CMD-FLT-090, 094.
    """
    types = [type_.name for type_ in config.types]
    first, _, rest = cell.strip("/").partition("/")
    if kind is None and first in types and rest:
        kind, cell = first, rest
    if kind is None and len(types) > 1:
        raise UsageError(
            "CMD-FLT-094", "there are several cluster types", hint=f"name one with --cluster-type: {', '.join(types)}"
        )
    kind = kind or types[0]
    check_known("cluster type", [kind], types)
    check_known("cell", [cell.strip("/")], [in_path(prefix) for prefix in config.cells()])
    return kind, tuple(cell.strip("/").split("/"))


def _read_cluster(path: Path) -> Mapping[str, Any]:
    with guard_disk(path):
        data = load(path.read_bytes(), place=str(path))
    if isinstance(data, dict) and isinstance(data.get("cluster"), dict):
        data = data["cluster"]
    if not isinstance(data, dict):
        raise InputError(
            "CMD-FLT-095", f"{path} is {kind_of(data)}, must be a map", hint="write the values of one cluster"
        )
    return data
