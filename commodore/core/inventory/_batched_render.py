"""Rendering many targets in parts: reclass-rs keeps all that it renders at once, several MiB for each target."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from commodore.base.files.staging import temporary_folder
from commodore.base.programs.workers import usable_cpus
from commodore.core.inventory._class_bundling import Together
from commodore.core.inventory._reclass_process import ReclassProcess

Rendered = tuple[str, dict[str, Any]]

_PER_THREAD = 2
"""Targets of a part for each thread. They take about the same time, so that no thread waits long for the others."""
_SCHEME = "yaml_fs://"


def render_parts(
    inventory: Path, paths: Mapping[str, Path], process: ReclassProcess, copy: Together | None
) -> Iterator[Rendered]:
    """Render all targets, some at a time.

    Args:
        inventory: the absolute path of the folder with `classes/` and `targets/`.
        paths: the files of the targets, relative to `targets/`.
        process: renders.
        copy: the hierarchy to take instead.

    Returns:
        The targets' names and nodes, part by part, each node as if all had been rendered from `targets/`.

    Raises:
        TargetError, PanicError, TooMuchError: see `ReclassProcess.nodes`. The last names the targets of its part.
    """
    size = max(usable_cpus(), 1) * _PER_THREAD
    targets = sorted(paths.items())
    if len(targets) <= size and copy is None:
        yield from process.nodes(list(paths), **folders(inventory))
        return
    sources, classes = (copy.targets, copy.classes) if copy else (inventory / "targets", inventory / "classes")
    uri = f"{_SCHEME}{os.path.abspath(inventory / 'targets')}/"
    for part in (targets[start : start + size] for start in range(0, len(targets), size)):
        with temporary_folder() as folder:
            for _, path in part:
                link = folder / path
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(sources / path)
            names = [name for name, _ in part]
            hierarchy = folders(inventory, nodes_path=str(folder), classes_path=str(classes))
            for name, node in process.nodes(names, **hierarchy):
                node["__reclass__"]["uri"] = f"{uri}{paths[name]}"
                if copy is not None:
                    copy.restore(node)
                yield name, node


def folders(inventory: Path, **others: Any) -> dict[str, Any]:
    """The arguments of `reclass_rs.Reclass` for the hierarchy with this absolute path.

    Args:
        others: replace them.
    """
    # reclass-rs takes the other two paths relative to the first.
    own = {"nodes_path": str(inventory / "targets"), "classes_path": str(inventory / "classes")}
    return {"inventory_path": str(inventory), **own, **others}
