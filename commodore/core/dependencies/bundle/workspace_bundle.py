"""Content of `vendor` for a compile: components, their template libraries, and the packages that they require."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commodore.base.files.workspace import Workspace, write_atomically
from commodore.core.dependencies.bundle.install import BundleResult, install
from commodore.core.dependencies.bundle.jsonnetfile import JsonnetDependency, JsonnetFile, LocalSource, serialise
from commodore.core.dependencies.bundle.sources import LibrarySources


@dataclass(frozen=True, slots=True)
class BundledComponent:
    """A component to bundle.

    `directory` is the root of its repository, which ends in `name`; `jsonnetfile` has its requirements, and overrides
    the file in the folder (None: the file in the folder is used).
    """

    name: str
    directory: Path
    jsonnetfile: JsonnetFile | None = None


def bundle(workspace: Workspace, components: Sequence[BundledComponent], *, sources: LibrarySources) -> BundleResult:
    """Fill the workspace's `vendor` for a catalog or package compile; write its jsonnetfile and lock file.

    Components are processed in name order: if they require different versions of a library, the first version wins.
    Earlier lock files are ignored.

    Raises:
        CommodoreError: see `install`.
    """
    ordered = sorted(components, key=lambda component: component.name)
    folders = [*(component.directory for component in ordered), workspace.libraries]
    directories = [Path(os.path.relpath(folder, workspace.root)).as_posix() for folder in folders]
    document = {
        "version": 1,
        "dependencies": [{"source": {"local": {"directory": directory}}} for directory in directories],
        "legacyImports": True,
    }
    content = json.dumps(document, indent=4).encode() + b"\n"
    write_atomically(workspace.jsonnetfile, content, root=workspace.root)
    result = install(
        workspace.root,
        JsonnetFile(tuple(JsonnetDependency(LocalSource(directory)) for directory in directories)),
        JsonnetFile(),
        vendor=workspace.vendor,
        sources=sources,
        replaced={
            component.directory: component.jsonnetfile for component in ordered if component.jsonnetfile is not None
        },
    )
    write_atomically(workspace.jsonnetfile_lock, serialise(result.lock, workspace.root), root=workspace.root)
    return result


def bundle_component(
    directory: Path, jsonnetfile: JsonnetFile, *, vendor: Path, sources: LibrarySources
) -> BundleResult:
    """Fill `vendor` with the requirements of one component, for compiling it alone. Nothing else is written.

    Args:
        directory: the folder that `jsonnetfile` belongs to.

    Raises:
        CommodoreError: see `install`.
    """
    return install(directory, jsonnetfile, JsonnetFile(), vendor=vendor, sources=sources)
