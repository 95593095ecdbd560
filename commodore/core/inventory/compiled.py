"""Inventory of the last compile in a working directory."""

from __future__ import annotations

from typing import Any

from commodore.base.errors import InputError, did_you_mean
from commodore.base.files.workspace import Workspace
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.base.printable import some_of
from commodore.core.inventory.preview import Preview

_NO_INSTANCES = "it has no instances here: compile it (again, if the last compile here failed)"


def compiled_preview(workspace: Workspace, instance: str | None = None) -> Preview:
    """Return the preview of the last compile in a working directory: an instance's target, or the cluster's.

    Raises:
        InputError: CMD-INV-046, there was no compile; CMD-INV-047, the cluster has no such instance.
    """
    targets = compiled_targets(workspace)
    if BOOTSTRAP_TARGET not in targets:
        raise InputError(
            "CMD-INV-046",
            f"no cluster has been compiled in {workspace.root}",
            hint="name a folder with global defaults, or with --working-dir one in which a cluster was compiled",
            locations=[str(workspace.targets)],
        )
    node = instance or BOOTSTRAP_TARGET
    if node not in targets:
        instances = [target for target in targets if target != BOOTSTRAP_TARGET]
        known = f"its instances are {some_of(instances)}" if instances else _NO_INSTANCES
        raise InputError(
            "CMD-INV-047",
            f"the cluster compiled in {workspace.root} has no instance {node!r}",
            hint=did_you_mean(node, instances) or known,
            locations=[str(workspace.targets)],
        )
    return Preview(workspace.inventory, node, {}, {})


def compiled_targets(workspace: Workspace) -> list[str]:
    """Return the targets of the last compile in a working directory, sorted; `cluster` is the cluster itself."""
    return sorted(path.stem for path in workspace.targets.glob("*.yml") if not path.name.startswith("."))


def relative_to_root(value: Any, workspace: Workspace) -> Any:
    """Make paths below the working directory relative in all strings of parameters, for a comparison."""
    if isinstance(value, str):
        return value.replace(f"{workspace.root}/", "./")
    if isinstance(value, dict):
        return {key: relative_to_root(entry, workspace) for key, entry in value.items()}
    return [relative_to_root(entry, workspace) for entry in value] if isinstance(value, list) else value
