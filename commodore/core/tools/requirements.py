"""Minimum versions of the tools that a compile needs. Each executable is run once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, raise_all
from commodore.base.files.sealed import read_note, write_note
from commodore.base.values.versions import Version
from commodore.core.results.caches import cache_folder
from commodore.core.tools.find import Tool, ask_versions, locate_tool
from commodore.core.tools.version_numbers import tool_version

# Helm before 3.8 pulls no charts from OCI registries without a switch; kustomize before 5 has other fields and output.
MINIMUM_VERSIONS = {"helm": Version(3, 8, 0), "kustomize": Version(5, 0, 0)}


def version_cache() -> Path:
    """Return the path of the file with the known versions of tools."""
    return cache_folder() / "tool-versions.json"


def check_minimum(names: Iterable[str], context: Context) -> None:
    """Refuse tools that are too old. Missing tools, and ones that print no version, pass: they may work.

    A tool is run only if its path, size or modification time have changed, or its version is older than
    `limits.tool_version_age` seconds: a wrapper script may run another version without changing.

    Args:
        names: the tools that are needed; those without a minimum pass.

    Raises:
        EnvironmentFault: CMD-TOOL-025, a tool is too old; 003, KAPITAN_HELM_PATH misleads.
    """
    located = [locate_tool(name) for name in sorted(set(names) & set(MINIMUM_VERSIONS))]
    tools = [tool for tool in located if tool is not None]
    if not tools:
        return
    versions = tool_versions(tools, context)
    errors = []
    for tool in tools:
        has, least = tool_version(versions.get(tool.name)), MINIMUM_VERSIONS[tool.name]
        if has is not None and has < least:
            errors.append(
                EnvironmentFault(
                    "CMD-TOOL-025",
                    f"{tool.name} {has} is too old: at least {least} is needed",
                    hint=f"run 'commodore tool install {tool.name}', and remove the old one or put it behind in PATH",
                    locations=[str(tool.path)],
                )
            )
    raise_all(context.problems(errors))


def tool_versions(
    tools: list[Tool], context: Context, *, environ: Mapping[str, str] = os.environ
) -> dict[str, str | None]:
    """Return the version of each tool by name, cached while its file is unchanged; None if it prints none."""
    file = version_cache()
    record = read_note(file, "tools", most=context.limits.tool_state_bytes)
    now = time.time()
    versions: dict[str, str | None] = {}
    for tool in tools:
        match record.get(_key(tool)):
            case [list() as mark, str(version), int() | float() as when] if (
                mark == _mark(tool.path) and 0 <= now - when <= context.limits.tool_version_age
            ):
                versions[tool.name] = version
    unknown = [(tool, _mark(tool.path)) for tool in tools if tool.name not in versions]
    asked = ask_versions([tool for tool, _ in unknown], context, environ=environ)
    for tool, (_, mark) in zip(asked, unknown, strict=True):
        versions[tool.name] = tool.version
        if tool.version is not None and mark:
            record[_key(tool)] = [mark, tool.version, now]
    if unknown:
        write_note(file, _recent(record, now, context), "tools")
    return versions


def _recent(record: Mapping[str, object], now: float, context: Context) -> dict[str, object]:
    """Return the record without entries that are too old, so that the file does not grow for ever."""
    kept: dict[str, object] = {}
    for key, value in record.items():
        match value:
            case [_, _, int() | float() as when] if 0 <= now - when <= context.limits.tool_version_age:
                kept[key] = value
    return kept


def _key(tool: Tool) -> str:
    return f"{tool.name} {tool.path}"


def _mark(path: Path) -> list[int]:
    """Return values that change when the file is replaced: its modification time and size. Links are followed."""
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size]
