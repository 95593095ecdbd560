"""`commodore catalog explain`: why a rendered manifest is as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from commodore.cli._completion import complete_manifests
from commodore.cli._manifest_explanation import manifest_lines
from commodore.cli._options import options
from commodore.cli.console import console_of, working_dir
from commodore.context import Context
from commodore.events import ignore
from commodore.limits import DEFAULT_LIMITS
from commodore.settings.catalog import CATALOG_EXPLAIN


@click.command("explain")
@click.argument("manifest", metavar="FILE[#KIND/NAME[.FIELD]]", shell_complete=complete_manifests)
@options(*CATALOG_EXPLAIN)
@click.pass_context
def catalog_explain(ctx: click.Context, /, manifest: str, **values: Any) -> None:
    """Show which instance made a manifest of the catalog, from what, and which parameters it has read.

    FILE is a manifest of the last compile in the working directory, like manifests/nfs/10_provisioner.yaml. With
    #KIND/NAME an object in it is looked at, with .FIELD a field of it, written like spec.containers[0].image: then
    the parameters are shown that the instance has read and that have the value of the field.
    """
    from commodore.stages.explaining import as_dict, explain_manifest
    from commodore.workspace import Workspace

    console = console_of(ctx)
    folder = working_dir(ctx)
    found = explain_manifest(Workspace.at(folder), manifest, Path.cwd(), Context(ignore, DEFAULT_LIMITS))
    if values["output_format"] == "json":
        console.data(json.dumps(as_dict(found), indent=2))
    else:
        console.result("\n".join(manifest_lines(found, () if folder == Path() else ("-d", str(folder)))))
