"""`commodore fleet diff`, `drift` and `import`: generated charts compared with other commits and deployments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import UsageError
from commodore.base.printable import counted, printable_lines
from commodore.cli.fleet.commands import group_lines, object_lines, states_of
from commodore.cli.fleet.documents import FleetImport, rendered_changes
from commodore.cli.fleet.settings import FLEET_DIFF, FLEET_DRIFT, FLEET_IMPORT
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.fleet import Drifts


@click.command("diff")
@click.argument("revisions", metavar="[REV [REV]]", nargs=-1)
@options(*FLEET_DIFF)
@click.pass_context
def fleet_diff(ctx: click.Context, /, revisions: tuple[str, ...], out: str) -> None:
    """Show the differences in `rendered` between two commits, with equal changes of several cells once.

    With one REV, or none (HEAD), the files that are there are compared with it.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import diff_rendered

    console = console_of(ctx)
    if len(revisions) > 2:
        raise UsageError("CMD-FLT-092", "more than two commits are given", hint="give one or two")
    rendered = diff_rendered(Workspace.at(working_dir(ctx)).root, revisions, console.context)
    if out == "json":
        console.document("fleet-diff", rendered_changes(rendered))
        return
    for line in (*group_lines(rendered.groups, rendered.cells), *object_lines(rendered.objects, rendered.cells, "")):
        console.result(line)
    number = len(rendered.change.files)
    console.result(f"{counted(rendered.cells, 'cell')}: {counted(number, 'file') if number else 'no file'} changed")


@click.command("drift")
@options(*FLEET_DRIFT)
@click.pass_context
def fleet_drift(ctx: click.Context, /, **values: Any) -> int:
    """Compare `rendered` with the deployed state in status files.

    Shows missing and extra Applications, and other revisions.

    Ends with exit code 1 if something differs.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import drift

    console = console_of(ctx)
    state = states_of(ctx, values, console)
    if state is None:
        raise UsageError("CMD-FLT-092", "the deployed state is not given", hint="give files with --status")
    result = drift(Workspace.at(working_dir(ctx)).root, state, console.context)
    if values["out"] == "json":
        console.document("fleet-drift", result)
    else:
        for line in _drift_lines(result):
            console.result(printable_lines(line))
    return 1 if result.found else 0


_SHOWN_CELLS = 3


def _drift_lines(drifts: Drifts) -> Iterator[str]:
    for item in drifts.found:
        more = len(item.cells) - _SHOWN_CELLS
        cells = ", ".join(item.cells[:_SHOWN_CELLS]) + (f" and {more} more" if more > 0 else "")
        revision = f" is {item.found}, not {item.wanted}," if item.kind == "revision" else ""
        yield f"{item.kind:8} {item.application}{revision} in {len(item.cells)} of {len(drifts.known)} cells ({cells})"
    if drifts.unknown:
        yield f"nothing is known of {counted(len(drifts.unknown), 'cell')}, such as {drifts.unknown[0]}"
    if not drifts.found:
        number = len(drifts.known)
        yield f"{counted(number, 'cell')}: what is deployed is what was generated"


@click.command("import")
@click.argument("cluster_type", metavar="TYPE")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(*FLEET_IMPORT)
@click.pass_context
def fleet_import(ctx: click.Context, /, cluster_type: str, files: tuple[Path, ...], **values: Any) -> None:
    """Make base values of a cluster type out of Applications that exist, as files or lists of kubectl hold them.

    What the type's defaults give already is left out. Nothing that is there is replaced.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.cli.fleet.promote import write_gitignore
    from commodore.fleet import import_applications, write_changes

    console = console_of(ctx)
    workspace = Workspace.at(working_dir(ctx))
    with workspace.locked(console.context.limits):
        write_gitignore(workspace)
        done = import_applications(workspace.root, cluster_type, files, values["app"], console.context)
        if not values["dry_run"]:
            write_changes(dict(done.files), workspace.root)
    paths = [str(path.relative_to(workspace.root)) for path in done.files]
    if values["out"] == "json":
        console.document("fleet-import", FleetImport(paths, done.applications))
        return
    for path, content in done.files.items():
        name = path.relative_to(workspace.root)
        console.result(printable_lines(f"{name} {'would be written' if values['dry_run'] else 'is written'}"))
        if values["dry_run"]:
            console.result(printable_lines(content.decode()), newline=False)
    console.status("See its output with 'commodore fleet generate --dry-run'")
