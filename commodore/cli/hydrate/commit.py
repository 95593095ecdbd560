"""`commodore hydrate commit`: what a bundle wants, committed and pushed by a job that runs no tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commodore.base.errors import UsageError
from commodore.cli.hydrate.common import held, publishing_of, result_data
from commodore.cli.hydrate.report import report
from commodore.cli.hydrate.settings import HYDRATE_COMMIT
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.options import options


@click.command("commit")
@click.argument("bundle", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options(*HYDRATE_COMMIT)
@click.pass_context
def commit(ctx: click.Context, /, bundle: Path, **values: Any) -> int:
    """Commit what a bundle of hydrate render wants, and push.

    Nothing is rendered, and no tool but git runs. The bundle may write only to branches that --allow names. What is
    there by now is looked at again: what is hydrated already, or superseded, is not pushed.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.core.sources.git import RepositoryStore
    from commodore.hydrate import publish_bundle, read_allowed, read_bundle

    console = console_of(ctx)
    context = console.context
    if not values["allow"]:
        raise UsageError(
            "CMD-HYD-018",
            "--allow is missing: the branches that the bundle may write to",
            hint="add --allow https://git.example.com/shop.git=environments/*",
        )
    requests = read_bundle(bundle, [read_allowed(value) for value in values["allow"]], context.limits)
    workspace = Workspace.at(working_dir(ctx))
    with (
        publishing_of(values, context) as publishing,
        held(workspace, context),
        RepositoryStore(workspace.repositories, context) as store,
    ):
        results = publish_bundle(requests, store, context, publishing)
    groups = [
        (result_data({"id": value.group, "branch": value.branch}, result), value.branch, result)
        for value, result in results
    ]
    return report(groups, values, console)
