"""`commodore version`: versions of the program, its libraries and external tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from commodore.base.names import DISTRIBUTION
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import VERSION
from commodore.version import __version__

if TYPE_CHECKING:
    from commodore.core.tools import Tool


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of the program, its libraries and its tools; null for missing ones."""

    commodore: str
    package: str
    libraries: Mapping[str, str | None]
    tools: Mapping[str, Tool | None]


@click.command("version")
@options(*VERSION)
@click.pass_context
def version(ctx: click.Context, /, **values: Any) -> int:
    """Show the versions of commodore, its core libraries and the tools it finds.

    Ends with exit code 127 if a tool that is needed is missing.
    """
    from commodore.core.tools import core_libraries, find_tools

    console = console_of(ctx)
    tools = find_tools(console.context)
    missing = [name for name in ("helm", "kustomize") if tools[name] is None]
    if values["out"] == "json":
        libraries = {library.name: library.version for library in core_libraries()}
        console.document("version", Versions(__version__, DISTRIBUTION, libraries, tools))
        return 127 if missing else 0
    console.result(click.style(f"Commodore {__version__}", bold=True) + f" (package {DISTRIBUTION})")
    console.result("")
    console.result(click.style("Core libraries", bold=True))
    for library in core_libraries():
        console.result(f"{library.name}: {library.version}")
    console.result("")
    console.result(click.style("External tools", bold=True))
    for name, tool in tools.items():
        if tool is not None:
            console.result(f"{name}: {tool.path}, version: {tool.version or 'unknown'}")
        elif name in missing:
            console.result(f"{name}: {click.style('NOT FOUND IN PATH', fg='red', bold=True)}")
            console.status(f"install it: commodore tool install {name}")
        else:
            console.result(f"{name}: not found, and not needed")
    return 127 if missing else 0
