"""Find the external tools and their versions.

The order of the search: the path given by the user, the environment (``KAPITAN_HELM_PATH`` for helm, which Kapitan
reads too), ``PATH``, the managed folder. Without a kustomize, the one built into kubectl is used.
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

# Arguments that make a tool print its version and not contact a server.
_VERSION_ARGUMENTS = {
    "helm": ("version", "--template", "{{.Version}}"),
    "jb": ("--version",),
    "kustomize": ("version",),
    "git": ("--version",),
}
_KUBECTL_VERSION_ARGUMENTS = ("version", "--client", "--output", "json")

_BEGINNING = 1 << 16  # bytes of output that are searched for a version
_VERSION = re.compile(r"v?\d+\.\d+[0-9A-Za-z.+-]*")


class ToolOrigin(StrEnum):
    """The place where a tool was found."""

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
        path: its executable, absolute. With the source ``kubectl`` it is kubectl, run as ``kubectl kustomize``.
        version: as the tool prints it (``v4.1.4``); None if it was not run or printed none.
        source: the place where it was found.
    """

    name: str
    path: Path
    version: str | None
    source: ToolOrigin


def managed_folder() -> Path:
    """Return the folder of tools that the program installed: ``<cache>/commodore/tools``, by XDG rules everywhere."""
    return Unix("commodore").user_cache_path / "tools"


def locate_tool(
    name: str,
    *,
    explicit: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    managed: Path | None = None,
) -> Tool | None:
    """Find a tool without running it, so its version stays None.

    Args:
        name: one of `TOOL_NAMES`.
        explicit: the path given by the user; then nothing else is tried.
        environ: the environment to search.
        managed: the managed folder, by default `managed_folder()`.

    Returns:
        The tool, or None if it is not installed.

    Raises:
        InputError: CMD-TOOL-001, unknown tool; CMD-TOOL-002, `explicit` is not an executable file.
        EnvironmentFault: CMD-TOOL-003, the tool's environment variable does not name an executable file.
    """
    if name not in TOOL_NAMES:
        raise InputError("CMD-TOOL-001", f"unknown tool {name!r}", hint=f"known tools: {', '.join(TOOL_NAMES)}")
    if explicit is not None:
        return _explicit(name, explicit)
    search = absolute_folders(environ.get("PATH", os.defpath))
    variable = _ENVIRONMENT.get(name, "")
    if value := environ.get(variable, ""):
        return _from_environment(name, variable, value, search)
    if path := shutil.which(name, path=search):
        return Tool(name, Path(path), None, ToolOrigin.PATH)
    folder = (managed or managed_folder()).absolute()
    if _executable(folder / name):
        return Tool(name, folder / name, None, ToolOrigin.MANAGED)
    if name == "kustomize" and (path := shutil.which("kubectl", path=search)):
        return Tool(name, Path(path), None, ToolOrigin.KUBECTL)
    return None


def find_tools(
    context: Context,
    names: Iterable[str] = TOOL_NAMES,
    *,
    explicit: Mapping[str, Path] | None = None,
    environ: Mapping[str, str] = os.environ,
    managed: Path | None = None,
) -> dict[str, Tool | None]:
    """Find tools, and run all of them at the same time for their versions.

    Args:
        names: the tools, some of `TOOL_NAMES`.
        explicit: paths given by the user, by tool.
        environ: the environment to search, and to run them with.
        managed: the managed folder, by default `managed_folder()`.
        context: announces a `Warned` for a tool that does not print its version.

    Returns:
        The tool for each name, in the order given, or None if it is not installed.

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
    """Return the tools with their versions, all run at the same time.

    A tool that does not end within `limits.tool_timeout` seconds (CMD-TOOL-004), cannot be run or prints no version
    (CMD-TOOL-005) keeps the version None, with a warning. It is not an error: the tool may still work.
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
    """Find the tool that an environment variable names as Kapitan does: a path, or a bare name in PATH."""
    if os.sep in value:
        path = Path(value).absolute()
        executable = path if _executable(path) else None
    else:
        match = shutil.which(value, path=search)
        executable = Path(match) if match else None
    if executable is None:
        raise EnvironmentFault(
            "CMD-TOOL-003",
            f"{variable} does not name an executable file",
            hint=f"set it to the {name} executable, or unset it to look for {name} in PATH",
            locations=[value],
        )
    return Tool(name, executable, None, ToolOrigin.ENVIRONMENT)


def _executable(path: Path) -> bool:
    return os.access(path, os.X_OK) and path.is_file()


def _ask(tool: Tool, environ: Mapping[str, str], context: Context) -> tuple[str | None, Warned | None]:
    arguments = _KUBECTL_VERSION_ARGUMENTS if tool.source is ToolOrigin.KUBECTL else _VERSION_ARGUMENTS[tool.name]
    command = Command((str(tool.path), *arguments), environ)
    timeout = context.limits.tool_timeout
    output: running.Ended | OutOfBounds
    try:  # the exit code does not matter, and a tool may write without end
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
    """Return the first version in the output, standard output first: some tools print their version to standard error,
    others warnings about their configuration."""
    for text in output:
        if match := _VERSION.search(text):
            return match.group()
    return None


def _kustomize_of_kubectl(output: Sequence[str]) -> str | None:
    try:
        answer = json.loads(output[0])
    except ValueError:
        return None
    version = answer.get("kustomizeVersion") if isinstance(answer, dict) else None
    return _first_version((str(version), ""))
