"""`commodore hydrate status` and `check`: what branches are at, and whether they are what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.printable import printable
from commodore.cli.hydrate.common import SOURCES, Source, opened, permissive, report_left_out
from commodore.cli.hydrate.documents import CheckedPaths, HydratedBranches
from commodore.cli.hydrate.settings import HYDRATE_CHECK, HYDRATE_STATUS
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.hydrate import BranchStatus


@click.command("status")
@SOURCES
@options(*HYDRATE_STATUS)
@click.pass_context
def status(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Show what hydrated branches are at: their commits, how far they are behind, and whose paths they hold.

    SOURCE is as for run. Nothing is rendered, nothing is written.
    """
    from commodore.hydrate import plan, read, survey

    console = console_of(ctx)
    context = Context(console.announce, console.context.limits, values["offline"])
    with opened(ctx, sources, values, context) as run:
        planned = plan(read(run))
        result = survey(planned)
    code = report_left_out(planned.lost, console)
    if values["out"] == "json":
        console.document("hydrate-status", HydratedBranches(result))
        return code
    for item in result:
        console.result(printable(_line(item)))
        for path, sha in item.paths:
            mark = "  stale" if path in item.stale else "  of another program" if path in item.foreign else ""
            edited = f"  edited by others: {item.edited[path]}" if path in item.edited else ""
            console.result(printable(f"  {path}  {sha[:7]}{mark}{edited}"))
    return code


@click.command("check")
@SOURCES
@options(*HYDRATE_CHECK)
@click.pass_context
def check(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Render again what hydrated commits record, and compare the branches with it.

    SOURCE is as for run. Of each output path the recorded dry commit is rendered, with the recorded options, by the
    Application that writes there now. The exit code is 1 if a path has other objects, or cannot be checked. Nothing is
    written.
    """
    from commodore.hydrate import check as check_branches
    from commodore.hydrate import plan, read

    console = console_of(ctx)
    with opened(ctx, sources, values, console.context) as run:
        planned = plan(read(permissive(run)))
        branches = check_branches(planned, values["commit"] or "")
    failing = {"different"} if values["allow_unknown"] else {"different", "cannot"}
    code = 1 if any(item.answer in failing for item in branches) else 0
    code = max(code, report_left_out(planned.lost, console))
    unknown = sum(item.answer == "cannot" for item in branches)
    partial = bool(unknown or planned.lost)
    if values["out"] == "json":
        console.document("hydrate-check", CheckedPaths(branches, partial, code))
        return code
    if unknown:
        console.result(f"{unknown} of {len(branches)} paths cannot be checked")
    for branch in branches:
        why = f": {branch.reason}" if branch.reason else ""
        console.result(printable(f"{branch.branch}  {branch.path}  {branch.answer}{why}"))
        if branch.changed_by:
            console.result(printable(f"  changed since it was hydrated: {branch.changed_by}"))
        for line in branch.diff:
            console.result(printable(f"  {line}"))
    return code


def _line(item: BranchStatus) -> str:
    if not item.head:
        return f"{item.branch}  not there yet"
    behind = "?" if item.behind is None else item.behind
    last = "" if item.ours else f", last changed by {item.author}"
    last += "" if item.applications else ", no Application hydrates to it any more"
    dry, noted = item.dry_sha[:7] or "?", item.noted[:7] or "?"
    return f"{item.branch}  {item.head[:7]}  dry {dry}, noted {noted}, {behind} behind{last}"
