"""`commodore catalog sbom`: what a catalog was made from and what it runs."""

from __future__ import annotations

import json
from typing import Any

import click

from commodore.cli._options import options
from commodore.cli.console import console_of, working_dir
from commodore.context import Context
from commodore.events import ignore
from commodore.limits import DEFAULT_LIMITS


@click.command("sbom")
@options()
@click.pass_context
def catalog_sbom(ctx: click.Context, /, **_values: Any) -> None:
    """Write a bill of materials: components, charts, images, Jsonnet libraries and tools.

    It is about the cluster that was last compiled in the working directory, in the form of CycloneDX 1.6 as JSON.
    """
    from commodore.stages.bill import bill_of_materials
    from commodore.workspace import Workspace

    found = bill_of_materials(Workspace.at(working_dir(ctx)), Context(ignore, DEFAULT_LIMITS))
    console_of(ctx).result(json.dumps(found, indent=2))
