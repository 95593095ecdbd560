"""`commodore hydrate commit`: what a bundle wants, committed and pushed by a job that runs no tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from commodore.cli._hydrate import outcome_data, outcome_lines, pushing, writing_of
from commodore.cli._options import options
from commodore.cli.console import console_of, working_dir
from commodore.errors import CommodoreError, UsageError
from commodore.printable import printable
from commodore.settings.hydrate import HYDRATE_COMMIT


@click.command("commit")
@click.argument("bundle", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options(*HYDRATE_COMMIT)
@click.pass_context
def commit(ctx: click.Context, /, bundle: Path, **values: Any) -> int:
    """Commit what a bundle of hydrate render wants, and push.

    Nothing is rendered, and no tool but git runs. The bundle may write only to branches that --allow names. What is
    there by now is looked at again: what is hydrated already, or superseded, is not pushed.
    """
    from commodore.git import RepositoryStore
    from commodore.hydrate.bundle import Publishing, publish_bundle, read_allowed, read_bundle
    from commodore.workspace import Workspace

    console = console_of(ctx)
    context = console.context
    if not values["allow"]:
        raise UsageError(
            "CMD-HYD-018",
            "--allow is missing: the branches that the bundle may write to",
            hint="add --allow https://git.example.com/shop.git=environments/*",
        )
    requests = read_bundle(bundle, [read_allowed(one) for one in values["allow"]], context.limits)
    workspace = Workspace.at(working_dir(ctx))
    sign = values["sign"]
    with (
        pushing(values, context) as rights,
        workspace.locked(context.limits),
        RepositoryStore(workspace.repositories, context) as store,
    ):
        results = publish_bundle(
            requests,
            store,
            context,
            Publishing(
                writing_of(values),
                sign="" if sign == "default" else sign,
                rights=rights,
                allow_older=values["allow_older"],
                dry=values["dry_run"],
            ),
        )
    errors = [result for _, result in results if isinstance(result, CommodoreError)]
    code = max((error.exit_code for error in errors), default=0)
    if values["out"] == "json":
        groups = [{"id": one.group, "branch": one.branch, **outcome_data(result)} for one, result in results]
        console.result(json.dumps({"groups": groups, "exit": code}, indent=2))
    for one, result in results:
        if values["out"] == "text":
            for line in outcome_lines(one.branch, result):
                console.result(printable(line))
        if isinstance(result, CommodoreError):
            console.error(result.about(f"branch {one.branch}"))
    return code
