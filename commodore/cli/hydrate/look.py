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
        found = survey(planned)
    code = report_left_out(planned.lost, console)
    if values["out"] == "json":
        console.document("hydrate-status", HydratedBranches(found))
        return code
    for one in found:
        console.result(printable(_line(one)))
        for path, sha in one.paths:
            mark = "  stale" if path in one.stale else "  of another program" if path in one.foreign else ""
            edited = f"  edited by others: {one.edited[path]}" if path in one.edited else ""
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
        found = check_branches(planned, values["commit"] or "")
    failing = {"different"} if values["allow_unknown"] else {"different", "cannot"}
    code = 1 if any(one.answer in failing for one in found) else 0
    code = max(code, report_left_out(planned.lost, console))
    unknown = sum(one.answer == "cannot" for one in found)
    partial = bool(unknown or planned.lost)
    if values["out"] == "json":
        console.document("hydrate-check", CheckedPaths(found, partial, code))
        return code
    if unknown:
        console.result(f"{unknown} of {len(found)} paths cannot be checked")
    for one in found:
        why = f": {one.reason}" if one.reason else ""
        console.result(printable(f"{one.branch}  {one.path}  {one.answer}{why}"))
        if one.changed_by:
            console.result(printable(f"  changed since it was hydrated: {one.changed_by}"))
        for line in one.diff:
            console.result(printable(f"  {line}"))
    return code


def _line(one: BranchStatus) -> str:
    if not one.head:
        return f"{one.branch}  not there yet"
    behind = "?" if one.behind is None else one.behind
    last = "" if one.ours else f", last changed by {one.author}"
    last += "" if one.applications else ", no Application hydrates to it any more"
    dry, noted = one.dry_sha[:7] or "?", one.noted[:7] or "?"
    return f"{one.branch}  {one.head[:7]}  dry {dry}, noted {noted}, {behind} behind{last}"
