"""Shell commands with the same result as a rendering, to be run at the root of the repository."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from commodore.argocd.model.sources import KustomizeOptions
from commodore.argocd.rendering.model import Unit
from commodore.argocd.trees import KUSTOMIZATIONS


def helm_commands(unit: Unit, chart: Path, arguments: Sequence[str], inline: tuple[str, str] | None) -> Iterator[str]:
    """Yield the commands for a chart.

    Args:
        chart: the folder that was rendered: the chart's own, or a copy with its dependencies.
        arguments: of helm, the first two are `template` and the chart.
        inline: the name and content of the file with the source's own values, or None.
    """
    folder = _folder_of(unit)
    if set(_charts(chart)) - set(_charts(unit.folder)):
        yield shlex.join(["helm", "dependency", "build", folder])
    if inline is not None:
        yield f"printf %s {shlex.quote(inline[1])} > {inline[0]}"
    yield shlex.join(["helm", arguments[0], folder, *(_shown(word, unit) for word in arguments[2:])])


def kustomize_commands(
    unit: Unit, options: KustomizeOptions, build: Sequence[str], edited: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield the commands for a kustomization: comments with Argo CD's edits, and the command that builds it.

    `kustomize edit` does not support patches and all options, so an edited kustomization is written as a whole.

    Args:
        build: the options of `kustomize build`.
        edited: the kustomization with the options of the source applied; None without edits.
    """
    folder = _folder_of(unit)
    command = shlex.join(["kustomize", "build", folder, *build])
    if edited is not None:
        for words in _edits(options):
            yield "# " + " ".join(shlex.join(["kustomize", "edit", *words]).split())
        file = next(name for name in KUSTOMIZATIONS if (unit.folder / name).is_file())
        command = f"printf %s {shlex.quote(json.dumps(edited))} > {shlex.quote(f'{folder}/{file}')} && {command}"
    yield command


def _edits(options: KustomizeOptions) -> Iterator[list[str]]:
    """Yield the arguments of `kustomize edit` for the options of a source, in the order of Argo CD."""
    labels, annotations = options.common_labels, options.common_annotations
    edits = (
        (options.name_prefix, ["set", "nameprefix", "--", options.name_prefix]),
        (options.name_suffix, ["set", "namesuffix", "--", options.name_suffix]),
        (options.images, ["set", "image", *options.images]),
        (options.replicas, ["set", "replicas", *(f"{name}={count}" for name, count in options.replicas)]),
        (labels, ["add", "label", ",".join(f"{key}:{value}" for key, value in labels)]),
        (annotations, ["add", "annotation", ",".join(f"{key}:{value}" for key, value in annotations)]),
        (options.namespace, ["set", "namespace", "--", options.namespace]),
        (options.components, ["add", "component", *options.components]),
    )
    for value, words in edits:
        if value:
            yield words


def _charts(chart: Path) -> list[str]:
    """Return the names of the files and folders in `charts/` of a chart."""
    folder = chart / "charts"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


def _folder_of(unit: Unit) -> str:
    relative = unit.folder.relative_to(unit.root).as_posix()
    return "." if relative == "." else f"./{relative}"


def _shown(word: str, unit: Unit) -> str:
    """Return an argument without the temporary folders of this run."""
    return word.replace(f"{unit.scratch}/", "").replace(f"{unit.root}/", "./")
