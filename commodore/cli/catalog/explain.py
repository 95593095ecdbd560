"""`commodore catalog explain`: why a rendered manifest is as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commodore.base.context import Context
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.catalog.manifest_explanation import manifest_lines
from commodore.cli.catalog.settings import CATALOG_EXPLAIN
from commodore.cli.shell.completion import complete_manifests
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.options import options


@click.command("explain")
@click.argument("manifest", metavar="FILE[#KIND/NAME[.FIELD]]", shell_complete=complete_manifests)
@options(*CATALOG_EXPLAIN)
@click.pass_context
def catalog_explain(ctx: click.Context, /, manifest: str, **values: Any) -> None:
    """Show the instance that rendered a manifest of the catalog, its sources, and the parameters it has read.

    FILE is a manifest of the last compile in the working directory, like manifests/nfs/10_provisioner.yaml. With
    #KIND/NAME an object in it is looked at, with .FIELD a field of it, written like spec.containers[0].image: then
    the parameters are shown that the instance has read and that have the value of the field.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import explain_manifest

    console = console_of(ctx)
    folder = working_dir(ctx)
    result = explain_manifest(Workspace.at(folder), manifest, Path.cwd(), Context(ignore, DEFAULT_LIMITS))
    if values["output_format"] == "json":
        console.document("catalog-explain", result)
    else:
        console.result("\n".join(manifest_lines(result, () if folder == Path() else ("-d", str(folder)))))
