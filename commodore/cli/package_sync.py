"""`commodore package sync`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commodore.cli._options import options
from commodore.cli._sync import run_sync
from commodore.settings.authoring import SYNC


@click.command("sync")
@click.argument("list_file", metavar="LIST", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@options(*SYNC)
@click.pass_context
def package_sync(ctx: click.Context, /, list_file: Path, **values: Any) -> None:
    """Update all packages of the file LIST from their templates, and open pull requests with the changes.

    LIST is a YAML file with one list of OWNER/NAME, repositories on GitHub. What fails for one of them does not end the
    run; a run that was interrupted is continued by the same command.
    """
    from commodore.authoring import PACKAGE

    run_sync(ctx, PACKAGE, list_file, values)
