"""Find the external tools and ask them for their versions.

A tool is looked for in this order: the path a user gave, the environment (``KAPITAN_HELM_PATH`` for helm, which Kapitan
reads too), ``PATH``, the managed folder. Where there is no kustomize, the one built into kubectl serves.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from platformdirs.unix import Unix

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.events import Warned
from commodore.base.programs import running
from commodore.base.programs.child_processes import Child, absolute_folders, child_environment
from commodore.base.programs.running import Bounds, Command, OutOfBounds
from commodore.base.programs.threads import threads

TOOL_NAMES = ("helm", "jb", "kustomize", "git")

_ENVIRONMENT = {"helm": "KAPITAN_HELM_PATH"}

# How each tool is asked for its version (which knows neither git nor kubectl).
_VERSION_ARGUMENTS = {
    "helm": ("version", "--template", "{{.Version}}"),
    "jb": ("--version",),
    "kustomize": ("version",),
    "git": ("--version",),
}
_KUBECTL_VERSION_ARGUMENTS = ("version", "--client", "--output", "json")

_BEGINNING = 1 << 16  # bytes: as much as a version can need
_VERSION = re.compile(r"v?\d+\.\d+[0-9A-Za-z.+-]*")


class ToolOrigin(StrEnum):
    """What led to a tool."""

    EXPLICIT = "explicit"
    ENVIRONMENT = "environment"
    PATH = "path"
    MANAGED = "managed"
    KUBECTL = "kubectl"


@dataclass(frozen=True, slots=True)
class Tool:
    """An external tool.

    Attributes:
        name: one of `TOOL_NAMES`.
        path: its executable, absolute. With the source ``kubectl`` it is kubectl, called as ``kubectl kustomize``.
        version: as the tool says it (``v4.1.4``); None when it was not asked or gave no answer.
        source: what led to it.
    """

    name: str
    path: Path
    version: str | None
    source: ToolOrigin


def managed_folder() -> Path:
    """Where tools are kept that the program itself installed: ``<cache>/commodore/tools``, by XDG rules everywhere."""
    return Unix("commodore").user_cache_path / "tools"


def locate_tool(
    name: str,
    *,
    explicit: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    managed: Path | None = None,
) -> Tool | None:
    """Find one tool without starting it, so its version stays None.

    Args:
        name: one of `TOOL_NAMES`.
        explicit: the path a user gave for it; then nothing else is tried.
        environ: the environment to look into.
        managed: the managed folder, by default `managed_folder()`.

    Returns:
        The tool, or None when it is nowhere.

    Raises:
        InputError: CMD-TOOL-001, no such tool is known; CMD-TOOL-002, `explicit` is no executable file.
        EnvironmentFault: CMD-TOOL-003, the tool's environment variable names no executable file.
    """
    if name not in TOOL_NAMES:
        raise InputError("CMD-TOOL-001", f"unknown tool {name!r}", hint=f"known tools: {', '.join(TOOL_NAMES)}")
    if explicit is not None:
        return _explicit(name, explicit)
    search = absolute_folders(environ.get("PATH", os.defpath))
    variable = _ENVIRONMENT.get(name, "")
    if value := environ.get(variable, ""):
        return _from_environment(name, variable, value, search)
    if found := shutil.which(name, path=search):
        return Tool(name, Path(found), None, ToolOrigin.PATH)
    folder = (managed or managed_folder()).absolute()
    if _executable(folder / name):
        return Tool(name, folder / name, None, ToolOrigin.MANAGED)
    if name == "kustomize" and (found := shutil.which("kubectl", path=search)):
        return Tool(name, Path(found), None, ToolOrigin.KUBECTL)
    return None


def find_tools(
    context: Context,
    names: Iterable[str] = TOOL_NAMES,
    *,
    explicit: Mapping[str, Path] | None = None,
    environ: Mapping[str, str] = os.environ,
    managed: Path | None = None,
) -> dict[str, Tool | None]:
    """Find tools and ask all of them for their versions at the same time.

    Args:
        names: the tools, some of `TOOL_NAMES`.
        explicit: paths that a user gave, by tool.
        environ: the environment to look into and to run them with.
        managed: the managed folder, by default `managed_folder()`.
        context: announces a `Warned` for a tool that does not say its version.

    Returns:
        For each name, in the order given, the tool or None when it is nowhere.

    Raises:
        CommodoreError: as `locate_tool`.
    """
    paths = explicit or {}
    located = {name: locate_tool(name, explicit=paths.get(name), environ=environ, managed=managed) for name in names}
    present = [tool for tool in located.values() if tool is not None]
    asked = {tool.name: tool for tool in ask_versions(present, context, environ=environ)}
    return {name: asked.get(name) for name in located}


def ask_versions(
    tools: Iterable[Tool], context: Context, *, environ: Mapping[str, str] = os.environ
) -> tuple[Tool, ...]:
    """The same tools with their versions, all asked at the same time.

    A tool that does not answer within `limits.tool_timeout` seconds (CMD-TOOL-004), cannot be run or says no version
    (CMD-TOOL-005) keeps the version None, and that is announced. Nothing is raised for it: it may still do its work.
    """
    asked = tuple(tools)
    variables = child_environment(Child.TOOL, environ)
    with threads(max(1, len(asked)), context, "version") as (pool, part):
        answers = tuple(pool.map(lambda tool: _ask(tool, variables, part), asked))
    for _, warning in answers:
        if warning is not None:
            context.announce(warning)
    return tuple(replace(tool, version=version) for tool, (version, _) in zip(asked, answers, strict=True))


def _explicit(name: str, path: Path) -> Tool:
    absolute = path.expanduser().absolute()
    if not _executable(absolute):
        raise InputError(
            "CMD-TOOL-002",
            f"the path given for {name} is not an executable file",
            hint="give the path of the executable itself, or leave it out to look for it in PATH",
            locations=[str(absolute)],
        )
    return Tool(name, absolute, None, ToolOrigin.EXPLICIT)


def _from_environment(name: str, variable: str, value: str, search: str) -> Tool:
    """As Kapitan reads it: a path, or a bare name to be found in PATH."""
    if os.sep in value:
        path = Path(value).absolute()
        found = path if _executable(path) else None
    else:
        hit = shutil.which(value, path=search)
        found = Path(hit) if hit else None
    if found is None:
        raise EnvironmentFault(
            "CMD-TOOL-003",
            f"{variable} does not name an executable file",
            hint=f"let it name the {name} executable, or unset it to look for {name} in PATH",
            locations=[value],
        )
    return Tool(name, found, None, ToolOrigin.ENVIRONMENT)


def _executable(path: Path) -> bool:
    return os.access(path, os.X_OK) and path.is_file()


def _ask(tool: Tool, environ: Mapping[str, str], context: Context) -> tuple[str | None, Warned | None]:
    arguments = _KUBECTL_VERSION_ARGUMENTS if tool.source is ToolOrigin.KUBECTL else _VERSION_ARGUMENTS[tool.name]
    command = Command((str(tool.path), *arguments), environ)
    timeout = context.limits.tool_timeout
    output: running.Ended | OutOfBounds
    try:  # how it ends does not matter, and a tool may write without end
        output = running.run(command, Bounds(timeout, _BEGINNING, _BEGINNING), context.cancellation)
    except OutOfBounds as hit:
        if hit.bound == "seconds":
            message = f"{tool.name} ({tool.path}) did not report its version within {timeout:g} seconds"
            hint = f"run it by hand: {tool.path} {' '.join(arguments)}"
            return None, Warned("CMD-TOOL-004", message, hint=hint)
        output = hit
    except OSError as error:
        message = f"{tool.name} ({tool.path}) cannot be run: {error.strerror}"
        return None, Warned("CMD-TOOL-005", message, hint="is it built for this machine?")
    texts = [content.decode("utf-8", "replace") for content in (output.output, output.said)]
    version = _kustomize_of_kubectl(texts) if tool.source is ToolOrigin.KUBECTL else _first_version(texts)
    if version is None:
        message = f"{tool.name} ({tool.path}) did not report its version"
        return None, Warned("CMD-TOOL-005", message, hint=f"run it by hand: {tool.path} {' '.join(arguments)}")
    return version, None


def _first_version(output: Sequence[str]) -> str | None:
    """Standard output first: some tools put their version, others warnings about their configuration on the other."""
    for text in output:
        if found := _VERSION.search(text):
            return found.group()
    return None


def _kustomize_of_kubectl(output: Sequence[str]) -> str | None:
    try:
        answer = json.loads(output[0])
    except ValueError:
        return None
    version = answer.get("kustomizeVersion") if isinstance(answer, dict) else None
    return _first_version((str(version), ""))
