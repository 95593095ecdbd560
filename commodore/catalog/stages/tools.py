"""The external tools of a compile: their paths for workers, and their minimum versions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, raise_all
from commodore.base.printable import some_of
from commodore.base.programs.child_processes import absolute_folders
from commodore.catalog.stages.components import INSTALLED, kustomize_wrapper
from commodore.core.tools import Toolbox, ToolOrigin, check_minimum, locate_tool, managed_tools


def tool_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return variables with which workers find managed tools, and kubectl's kustomize if nothing else is available.

    `PATH` comes first, so the user's own tools are not replaced. Empty if there is nothing to add.
    """
    box = Toolbox.of_user()
    folders = [box.folder] if managed_tools(box) else []
    kustomize = locate_tool("kustomize", environ=environ, managed=box.folder)
    if kustomize is not None and kustomize.source is ToolOrigin.KUBECTL:
        folders.append(INSTALLED / "scripts" / "kubectl-kustomize")
    if not folders:
        return {}
    return {"PATH": os.pathsep.join((absolute_folders(environ.get("PATH", os.defpath)), *map(str, folders)))}


def check_tools(targets: Iterable[tuple[str, Mapping[str, Any]]], context: Context) -> None:
    """Refuse missing or too old tools, before dependencies are fetched.

    Tools that no instance needs are not checked.

    The needed tools are read from the compile entries and the Kapitan dependencies. Programs that commands and modules
    start are unknown here; the engine reports missing ones, with their entry.

    Args:
        targets: the instances with their nodes.

    Raises:
        EnvironmentFault: CMD-TOOL-025, a tool is too old; 034, it is missing; 003, KAPITAN_HELM_PATH does not name an
            executable.
    """
    needed: dict[str, list[str]] = {}
    for name, node in targets:
        for tool in needed_tools(node):
            needed.setdefault(tool, []).append(name)
    raise_all([_missing(tool, needed[tool]) for tool in sorted(needed) if locate_tool(tool) is None])
    if needed:
        check_minimum(needed, context)


def _missing(tool: str, instances: list[str]) -> EnvironmentFault:
    plural = "s" if len(instances) > 1 else ""
    verb = "need" if plural else "needs"
    return EnvironmentFault(
        "CMD-TOOL-034",
        f"{tool} was not found, and instance{plural} {some_of(sorted(instances))} {verb} it",
        hint=f"commodore tool install {tool}",
    )


def needed_tools(node: Mapping[str, Any]) -> frozenset[str]:
    """Return the tools that a rendered target certainly needs. Invalid entries are ignored."""
    parameters = node.get("parameters")
    kapitan = parameters.get("kapitan") if isinstance(parameters, Mapping) else None
    return frozenset(_needs(kapitan)) if isinstance(kapitan, Mapping) else frozenset()


def _needs(kapitan: Mapping[str, Any]) -> Iterator[str]:
    for entry in mappings_in(kapitan.get("compile")):
        kind, paths = entry.get("input_type"), entry.get("input_paths")
        if kind == "kustomize" or (
            kind == "external" and isinstance(paths, list) and str(kustomize_wrapper()) in paths
        ):
            yield "kustomize"
        elif kind == "helm" and not entry.get("helm_path"):
            yield "helm"
    for dependency in mappings_in(kapitan.get("dependencies")):
        if dependency.get("type") == "helm" and not dependency.get("helm_path"):
            yield "helm"


def mappings_in(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in a list that is not validated."""
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))
