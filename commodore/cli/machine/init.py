"""`commodore init`: an empty hierarchy to begin with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from commodore.base.printable import printable
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import INIT


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@options(*INIT)
@click.pass_context
def init(ctx: click.Context, /, folder: Path, **values: Any) -> None:
    """Make an empty hierarchy in FOLDER, and a cluster file to compile from it.

    That is a git repository for global defaults, one for a tenant, an empty one for a catalog, and cluster.yml, which
    replaces the Lieutenant API. Nothing is pushed.
    """
    from commodore.authoring import HierarchyRequest, create_hierarchy

    console = console_of(ctx)
    request = HierarchyRequest(folder, values["cluster"], values["tenant"])
    with console.working():
        file = create_hierarchy(request, console.context)
    compile_it = ["catalog", "compile", values["cluster"], "--cluster-file", str(file)]
    console.result(f"Made an empty hierarchy in {printable(str(folder))}. Compile it:")
    console.result("  " + printable(shlex.join(["commodore", "-d", str(folder / "work"), *compile_it])))
