"""The rendered inventory on its way to the workers: one file per target, read by whoever needs that target.

The format is `marshal`: it keeps every plain value as it is (JSON would turn the key 1 into "1"), is faster than JSON
and pickle, and builds data only, never objects. The files live in the run's own staging folder and for that run only.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.errors import InternalError, PolicyError
from commodore.limits import Limits


def write_nodes(nodes: Mapping[str, Mapping[str, Any]], folder: Path, limits: Limits) -> dict[str, Path]:
    """Write each target's node. Returns the file of each target.

    Raises:
        InternalError: a node holds something else than plain data.
        PolicyError: together they exceed `limits.inventory_bytes`.
    """
    folder.mkdir(parents=True)
    files: dict[str, Path] = {}
    size = 0
    for number, (name, node) in enumerate(sorted(nodes.items())):
        try:
            content = marshal.dumps(dict(node))
        except ValueError as error:
            raise InternalError("CMD-ENG-001", f"the inventory of target {name!r}: {error}") from error
        size += len(content)
        if size > limits.inventory_bytes:
            raise PolicyError(
                "CMD-ENG-002",
                f"the rendered inventory is larger than {limits.inventory_bytes} bytes",
                hint="look for parameters that embed large files",
            )
        files[name] = folder / f"{number}.node"
        files[name].write_bytes(content)
    return files


def read_node(file: Path) -> dict[str, Any]:
    """A target's node, as `write_nodes` wrote it."""
    node: dict[str, Any] = marshal.loads(file.read_bytes())  # noqa: S302 - the main process wrote it a moment ago
    return node
