"""`commodore hydrate plan` and `run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import Warned
from commodore.base.printable import printable
from commodore.cli.hydrate.common import (
    NOTHING,
    SOURCES,
    Source,
    group_data,
    opened,
    report_left_out,
    warn_of_local_edits,
)
from commodore.cli.hydrate.documents import GroupRecord, HydratedGroups
from commodore.cli.hydrate.report import report, shown
from commodore.cli.hydrate.settings import HYDRATE_PLAN, HYDRATE_RUN
from commodore.cli.hydrate.watch import watch
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.hydrate import PlannedGroup


@click.command("plan")
@SOURCES
@options(*HYDRATE_PLAN)
@click.pass_context
def plan(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Show the groups of Applications, and what would be done for each. Nothing is rendered, nothing is written.

    SOURCE is a file or folder with Applications, ApplicationSets or a hydrate.yaml, - for standard input, or a folder
    of a repository as URL[@REVISION][:PATH]; by default it is the current folder.
    """
    from commodore.hydrate import plan as plan_of
    from commodore.hydrate import read

    console = console_of(ctx)
    context = Context(console.announce, console.context.limits, values["offline"])
    with opened(ctx, sources, values, context) as run:
        made = plan_of(read(run))
    planned = made.groups
    warn_of_local_edits(sources, planned, context)
    code = 1 if values["check"] and not all(_is_settled(entry, values["edited"]) for entry in planned) else 0
    code = max(code, report_left_out(made.lost, console))
    if values["out"] == "json":
        groups = [GroupRecord(**group_data(entry)) for entry in planned]
        console.document("hydrate-plan", HydratedGroups(groups, code))
        return code
    for item in planned:
        console.result(printable(f"{item.group.branch}  {item.decision}: {item.reason}"))
        for member in item.group.members:
            console.result(printable(f"  {member.path}  {member.name} from {member.dry_path or '.'}"))
        if item.decision != "abandoned":
            for path in item.stale:
                console.result(printable(f"  {path}  stale: no Application writes there any more"))
        for path, edit in item.edits.items():
            console.result(printable(f"  {path}  edited by others: {edit.by}"))
    branches = sorted({entry.group.branch for entry in planned if entry.decision != "abandoned"})
    console.result(printable(f"Protect these branches from other pushes: {', '.join(branches)}"))
    return code


def _is_settled(planned: PlannedGroup, edited: str) -> bool:
    """Tell if a run would change nothing, and the branch holds nothing but what its Applications render."""
    return planned.decision == "hydrated" and not planned.stale and (edited == "keep" or not planned.edits)


@click.command("run")
@SOURCES
@options(*HYDRATE_RUN)
@click.pass_context
def run(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Render Applications, commit what has changed to their branches, and push.

    SOURCE is a file or folder with Applications, ApplicationSets or a hydrate.yaml, - for standard input, or a folder
    of a repository as URL[@REVISION][:PATH]; by default it is the current folder. A group that fails does not hold back
    others. Clones are kept in the working directory.
    """
    from commodore.cli.hydrate.files import check_files, watch_files
    from commodore.hydrate import hydrate

    console = console_of(ctx)
    if values["offline"]:
        values["dry_run"] = True
    check_files(sources, values)
    if values["watch_files"]:
        watch_files(ctx, sources, values, console)
        return 0
    if values["watch"]:
        watch(ctx, sources, values, console)
        return 0
    context = Context(console.announce, console.context.limits, values["offline"])
    try:
        with opened(ctx, sources, values, context) as opened_run:
            hydrated = hydrate(opened_run)
        if not values["repo_map"]:
            warn_of_local_edits(sources, (planned for planned, _ in hydrated.results), context)
    except InputError as error:
        if error.code != NOTHING or not values["allow_none"]:
            raise
        console.announce(Warned(error.code, error.message, error.hint))
        return report([], values, console)
    return report(shown(hydrated.results), values, console, report_left_out(hydrated.lost, console))
