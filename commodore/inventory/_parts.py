"""Rendering many targets in parts: reclass-rs keeps all that it renders at once, several MiB for each target."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PER_THREAD = 2
"""Targets of a part for each thread. They take about the same time, so that no thread waits long for the others."""
_SCHEME = "yaml_fs://"


def render_parts(inventory: Path, reclass: Any, threads: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Render all targets that a `Reclass` has found, some at a time.

    Args:
        inventory: the absolute path of the folder with `classes/` and `targets/`.
        reclass: has found its classes and targets.
        threads: how many render at the same time; 0 if that is not known.

    Returns:
        The targets' names and nodes, part by part, each node as if all had been rendered from `targets/`.

    Raises:
        ValueError: what reclass-rs says.
    """
    import reclass_rs

    size = max(threads, 1) * _PER_THREAD
    targets = sorted(reclass.nodes.items())
    if len(targets) <= size:
        yield from sorted(reclass.inventory().as_dict()["nodes"].items())
        return
    source = f"{_SCHEME}{os.path.abspath(inventory / 'targets')}/"
    for part in (targets[start : start + size] for start in range(0, len(targets), size)):
        with tempfile.TemporaryDirectory(prefix="commodore-targets-") as folder:
            for _, path in part:
                link = Path(folder, path)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(inventory / "targets" / path)
            some = reclass_rs.Reclass(
                inventory_path=str(inventory), nodes_path=folder, classes_path=str(inventory / "classes")
            )
            nodes = some.inventory().as_dict()["nodes"]
        for name, node in sorted(nodes.items()):
            about = node["__reclass__"]
            about["uri"] = source + about["uri"].removeprefix(f"{_SCHEME}{folder}/")
            yield name, node
