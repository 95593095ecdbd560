"""Jsonnet libraries into `vendor/` (C45-C48, spec b 3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.caches import library_cache
from commodore.dependencies.bundle import (
    BundledComponent,
    JsonnetFile,
    LibrarySources,
    Requirer,
    bundle,
    bundle_component,
    effective_jsonnetfiles,
)
from commodore.errors import InputError
from commodore.events import Announce, stage
from commodore.git import RepositoryStore
from commodore.inventory import Inventory
from commodore.limits import Limits
from commodore.names import BOOTSTRAP_TARGET, parameter_key
from commodore.stages.checkouts import Components, Fetcher
from commodore.workspace import Workspace


def bundle_libraries(fetcher: Fetcher, components: Components, inventory: Inventory) -> None:
    """Fill `vendor/` with links to all components, their libraries, and what their jsonnetfiles require.

    Raises:
        CommodoreError: wrong jsonnetfiles or variables, versions that do not exist, git's failures.
    """
    parameters = inventory.nodes[BOOTSTRAP_TARGET].parameters
    with stage(fetcher.announce, "bundling jsonnet libraries"):
        requirers = [
            Requirer(name, base.checkout.path, _variables(parameters, name)) for name, base in components.bases.items()
        ]
        files = effective_jsonnetfiles(requirers, announce=fetcher.announce, limits=fetcher.limits)
        bundled = [
            BundledComponent(one.name, one.folder, file or JsonnetFile())
            for one, file in zip(requirers, files, strict=True)
        ]
        sources = LibrarySources(fetcher.store, library_cache(), announce=fetcher.announce, limits=fetcher.limits)
        bundle(fetcher.workspace, bundled, sources=sources, announce=fetcher.announce, limits=fetcher.limits)


def bundle_one(
    workspace: Workspace,
    component: str,
    root: Path,
    directory: Path,
    parameters: Mapping[str, Any],
    announce: Announce,
    limits: Limits,
) -> None:
    """Fill `vendor/` with what one component requires, for compiling it alone; nothing is written to its folder.

    Args:
        root: where its `jsonnetfile.jsonnet` lies; without one, a `jsonnetfile.json` in `directory` counts too.

    Raises:
        CommodoreError: see `bundle_libraries`.
    """
    variables = _variables(parameters, component)
    folders = list(dict.fromkeys((root, directory)))
    files = effective_jsonnetfiles(
        [Requirer(component, folder, variables) for folder in folders], announce=announce, limits=limits
    )
    store = RepositoryStore(workspace.repositories, announce=announce, limits=limits)
    sources = LibrarySources(store, library_cache(), announce=announce, limits=limits)
    for folder, file in zip(folders, files, strict=True):
        if file is not None:
            bundle_component(folder, file, vendor=workspace.vendor, sources=sources, announce=announce, limits=limits)
            return


def _variables(parameters: Mapping[str, Any], component: str) -> Mapping[str, object]:
    own = parameters.get(parameter_key(component))
    variables = own.get("jsonnetfile_parameters") if isinstance(own, Mapping) else None
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        place = f"parameters.{parameter_key(component)}.jsonnetfile_parameters"
        raise InputError("CMD-DEP-051", f"{place} must be a map of strings", locations=[place])
    return variables
