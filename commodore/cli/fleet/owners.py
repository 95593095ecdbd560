"""`commodore fleet owners`: who may change which file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import raise_all
from commodore.base.printable import printable
from commodore.cli.fleet.documents import Approvers
from commodore.cli.fleet.settings import FLEET_OWNERS_CHECK, FLEET_OWNERS_LIST
from commodore.cli.shell.console import Console, console_of, working_dir
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.fleet import Owners


@click.group(
    cls=LazyGroup,
    lazy={
        "check": LazyCommand("commodore.cli.fleet.owners:owners_check", "Check that a change has its approvals."),
        "list": LazyCommand("commodore.cli.fleet.owners:owners_list", "List who may approve a change of a file."),
    },
)
@options()
def fleet_owners() -> None:
    """Check who may change which file, by OWNERS files and OWNERS_ALIASES.

    The nearest OWNERS file above a file counts, together with those above it unless it has `no_parent_owners`. An
    application without any falls back to the owners of its metadata.yaml.
    """


@click.command("check")
@options(*FLEET_OWNERS_CHECK)
@click.pass_context
def owners_check(ctx: click.Context, /, **values: Any) -> None:
    """Check that the author, or a user who has approved, may change what differs: files below `config`, the templates,
    OWNERS and OWNERS_ALIASES. Files in `rendered` that differ must be what the configuration makes.
    """
    from commodore.fleet import check_output

    console = console_of(ctx)
    owners = _owners(ctx, values["base"], console)
    refusals = list(owners.refusals(values["author"], values["approved_by"]))
    raise_all([*refusals, *check_output(owners.root, owners.changed, values["base"], console.context)])
    console.result("all changes have an owner's approval")


@click.command("list")
@click.argument("path", metavar="PATH")
@options(*FLEET_OWNERS_LIST)
@click.pass_context
def owners_list(ctx: click.Context, /, path: str, **values: Any) -> None:
    """List who may approve a change of PATH, which is relative to the fleet's folder."""
    console = console_of(ctx)
    approvers = _owners(ctx, values["base"], console).approvers(path.strip("/"))
    if values["out"] == "json":
        console.document("fleet-owners-list", Approvers(approvers))
    else:
        for approver in approvers:
            console.result(printable(approver))


def _owners(ctx: click.Context, base: str, console: Console) -> Owners:
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import Owners

    return Owners(Workspace.at(working_dir(ctx)).root, base, console.context)
