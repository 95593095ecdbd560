"""`commodore trust`: the programs and downloads of components, checked by the trust policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable_lines
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import TRUST_EXPLAIN

if TYPE_CHECKING:
    from commodore.catalog import Action


@dataclass(frozen=True, slots=True)
class ExplainedTrust:
    """Everything that a component would execute and fetch."""

    actions: tuple[Action, ...]


@click.group(
    cls=LazyGroup,
    lazy={
        "explain": LazyCommand(
            "commodore.cli.machine.trust:trust_explain", "Show the programs and downloads of a component."
        ),
    },
)
@options()
def trust() -> None:
    """Show the permissions of third-party code."""


@click.command("explain")
@click.argument("component")
@options(*TRUST_EXPLAIN)
@click.pass_context
def trust_explain(ctx: click.Context, /, component: str, **values: Any) -> int:
    """Show the programs and downloads of COMPONENT, and if the trust policy allows them.

    COMPONENT is one of the cluster that was last compiled in the working directory, or an instance. Nothing is
    executed or fetched. The exit code is 1 if something of it would be refused.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import describe_isolation, explain_trust
    from commodore.core.confinement import read_policy

    console = console_of(ctx)
    given = read_policy(values["trust_policy"]) if values["trust_policy"] is not None else None
    workspace = Workspace.at(working_dir(ctx))
    actions = explain_trust(workspace, component, given, console.context)
    if values["output_format"] == "json":
        console.document("trust-explain", ExplainedTrust(actions))
    else:
        for action in actions:
            needs = f" (needs {action.capability})" if action.capability else ""
            console.result(printable_lines(f"{action.instance}: {action.what}{needs}"))
            if action.refusal:
                console.result(printable_lines(f"  refused: {action.refusal}"))
        if any(item.capability in ("external", "kadet") for item in actions):
            console.result(describe_isolation(workspace, given))
        if not actions:
            console.result(printable_lines(f"{component} executes and fetches nothing."))
    return 1 if any(item.refusal for item in actions) else 0
