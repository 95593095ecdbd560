"""`commodore component sync` and `commodore package sync`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import Findings
from commodore.base.printable import printable_lines
from commodore.cli.authoring.settings import SYNC
from commodore.cli.shell.console import Console, console_of, working_dir
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.authoring import ItemResult, Kind, SyncResult

_COLOURS = {"failed": "red", "postponed": "yellow", "skipped": "yellow", "up-to-date": None}


_LIST = click.argument("list_file", metavar="LIST", type=click.Path(exists=True, dir_okay=False, path_type=Path))


def _sync_command(kind: str, things: str) -> click.Command:
    @click.command("sync")
    @_LIST
    @options(*SYNC)
    @click.pass_context
    def command(ctx: click.Context, /, list_file: Path, **values: Any) -> None:
        from commodore import authoring

        _run_sync(ctx, getattr(authoring, kind), list_file, values)

    command.help = f"""Update all {things} of the file LIST from their templates, and open pull requests with the
    changes.

    LIST is a YAML file with one list of OWNER/NAME, repositories on GitHub. What fails for one of them does not end the
    run; a run that was interrupted is continued by the same command.
    """
    return command


component_sync, package_sync = _sync_command("COMPONENT", "components"), _sync_command("PACKAGE", "packages")


def _run_sync(ctx: click.Context, kind: Kind, list_file: Path, values: Mapping[str, Any]) -> None:
    """Update all repositories of a list, and end with exit code 1 if one failed."""
    from commodore.authoring import SyncRequest, sync_repositories
    from commodore.base.files.workspace import Workspace

    console = console_of(ctx)
    request = SyncRequest(
        kind=kind,
        list_file=list_file,
        token=values["github_token"],
        github_url=values["github_url"],
        branch=values["pr_branch"],
        labels=values["pr_label"],
        batch_size=values["pr_batch_size"],
        pause=values["github_pause"],
        filter=values["filter"] or "",
        template_version=values["template_version"] or None,
        trust_template=values["trust_template"],
        dry_run=values["dry_run"],
        restart=values["restart"],
    )
    with console.working():
        result = sync_repositories(
            Workspace.at(working_dir(ctx)),
            request,
            console.context,
            report=_reporter(console),
        )
    _summarize(console, result)
    if result.halted is not None:
        console.error(result.halted)
        ctx.exit(result.halted.exit_code)
    if not result.passed:
        ctx.exit(1)


def _reporter(console: Console) -> Callable[[ItemResult], None]:
    """Print the result of each repository as soon as it is known."""

    def report(item: ItemResult) -> None:
        if console.log_format == "json":
            console.document("sync-item", item, form="line")
        elif item.error is not None:
            for error in item.error.errors if isinstance(item.error, Findings) else (item.error,):
                named = error.message if item.name in error.message else f"{item.name}: {error.message}"
                console.error(type(error)(error.code, named, hint=error.hint, locations=error.locations))

    return report


def _summarize(console: Console, result: SyncResult) -> None:
    """The table at the end, and a line with the counts."""
    if console.log_format != "json":
        width = max((len(item.name) for item in result.items), default=0)
        for item in result.items:
            details = "; ".join(printable_lines(text) for text in (item.url, item.reason) if text)
            status = click.style(f"{item.status:<12}", fg=_COLOURS.get(item.status, "green"))
            console.result(f"{status} {printable_lines(item.name):<{width}}  {details}".rstrip())
    counts = ", ".join(f"{count} {status}" for status, count in result.counts())
    repositories = "repository" if len(result.items) == 1 else "repositories"
    console.status(f"{len(result.items)} {repositories}: {counts}" if result.items else "No repositories")
