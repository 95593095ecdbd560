"""Checks before a compile; all findings are reported together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Setting, raise_all
from commodore.base.files.workspace import Workspace, link_relative, make_folder, remove_tree
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.catalog.stages.checkouts import Components
from commodore.core.dependencies import (
    ComponentMetadata,
    LibraryOwner,
    check_alias,
    find_incomplete,
    overrides_version,
    read_metadata,
    resolve_libraries,
)
from commodore.core.inventory import Inventory, find_removed_variables


def check_classes(components: Components) -> None:
    """Refuse component classes that use removed variables, before they are rendered.

    Raises:
        CommodoreError: all findings.
    """
    files = [
        file
        for name, base in components.bases.items()
        for file in (base.directory / "class" / "defaults.yml", base.directory / "class" / f"{name}.yml")
        if file.is_file()
    ]
    raise_all(find_removed_variables(files))


def check_inventory(components: Components, inventory: Inventory, context: Context) -> dict[str, Path]:
    """Check the rendered hierarchy.

    Returns:
        The links of `dependencies/lib`: name to file.

    Raises:
        CommodoreError: removed features, incomplete entries, aliases and libraries that are not allowed; all of them.
    """
    bootstrap = inventory.nodes[BOOTSTRAP_TARGET].parameters
    errors = find_removed_features(bootstrap)
    errors += find_incomplete(components.parameters, components.applications.instances)
    metadata: dict[str, ComponentMetadata] = {}
    for name in components.bases:
        try:
            metadata[name] = read_metadata(bootstrap, name)
        except CommodoreError as error:
            errors.append(error)
            continue
        for doubt in metadata[name].doubts:
            context.announce(doubt)
    errors += _check_aliases(components, inventory, metadata)
    owners = [
        LibraryOwner(name, base.directory, base.checkout.path, metadata[name])
        for name, base in components.bases.items()
        if name in metadata
    ]
    links, wrong = resolve_libraries(owners, context)
    raise_all(errors + wrong)
    return links


def find_removed_features(parameters: Mapping[str, Any]) -> list[CommodoreError]:
    """Return errors for removed features, which would be ignored silently."""
    if not parameters.get("component_versions"):
        return []
    return [
        InputError(
            "CMD-DEP-050",
            "parameters.component_versions is no longer read",
            hint="move its entries to parameters.components",
            locations=[Setting.of("component_versions")],
        )
    ]


def _check_aliases(
    components: Components, inventory: Inventory, metadata: Mapping[str, ComponentMetadata]
) -> list[CommodoreError]:
    errors: list[CommodoreError] = []
    for instance, component in components.applications.instances.items():
        if component not in metadata:
            continue
        own = read_metadata(inventory.nodes[instance].parameters, component)
        overridden = overrides_version(components.parameters, instance)
        errors += check_alias(instance, component, metadata[component], own, overridden)
    return errors


def link_libraries(workspace: Workspace, links: Mapping[str, Path]) -> None:
    """Update `dependencies/lib` to exactly these links."""
    make_folder(workspace.libraries, root=workspace.root)
    for name, target in links.items():
        link_relative(workspace.libraries / name, target, root=workspace.root)
    for path in workspace.libraries.iterdir():
        if path.name not in links:
            remove_tree(path, root=workspace.root)
