"""Rendering many targets in parts: reclass-rs keeps all that it renders at once, several MiB for each target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from commodore.inventory._class_bundling import Together
from commodore.staging import temporary_folder

Rendered = tuple[str, dict[str, Any]]

_PER_THREAD = 2
"""Targets of a part for each thread. They take about the same time, so that no thread waits long for the others."""
_SCHEME = "yaml_fs://"


class TargetError(ValueError):
    """What reclass-rs says of a target."""

    def __init__(self, text: str, target: str) -> None:
        super().__init__(text)
        self.target = target


def render_parts(inventory: Path, reclass: Any, threads: int, copy: Together | None) -> Iterator[Rendered]:
    """Render all targets that a `Reclass` has found, some at a time.

    Args:
        inventory: the absolute path of the folder with `classes/` and `targets/`.
        reclass: has found its classes and targets.
        threads: how many render at the same time; 0 if that is not known.
        copy: the hierarchy to take instead.

    Returns:
        The targets' names and nodes, part by part, each node as if all had been rendered from `targets/`.

    Raises:
        TargetError: what reclass-rs says of a target.
    """
    import reclass_rs

    size = max(threads, 1) * _PER_THREAD
    paths: dict[str, Path] = reclass.nodes
    targets = sorted(paths.items())
    if len(targets) <= size and copy is None:
        yield from sorted(_nodes(reclass, dict(targets)).items())
        return
    sources, classes = (copy.targets, copy.classes) if copy else (inventory / "targets", inventory / "classes")
    uri = f"{_SCHEME}{os.path.abspath(inventory / 'targets')}/"
    for part in (targets[start : start + size] for start in range(0, len(targets), size)):
        with temporary_folder() as folder:
            for _, path in part:
                link = folder / path
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(sources / path)
            some = reclass_rs.Reclass(inventory_path=str(inventory), nodes_path=str(folder), classes_path=str(classes))
            nodes = _nodes(some, dict(part))
        for name, node in sorted(nodes.items()):
            node["__reclass__"]["uri"] = f"{uri}{paths[name]}"
            if copy is not None:
                copy.restore(node)
            yield name, node


def _nodes(reclass: Any, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """All nodes of a `Reclass`. Of several errors reclass-rs tells any; here it is that of the first target."""
    try:
        nodes: dict[str, dict[str, Any]] = reclass.inventory().as_dict()["nodes"]
    except ValueError:
        for name in names:
            try:
                reclass.nodeinfo(name)
            except ValueError as error:
                raise TargetError(str(error), name) from error
        raise
    return nodes
