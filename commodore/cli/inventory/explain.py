"""`commodore inventory explain`: where the value of a parameter comes from."""

from __future__ import annotations

from typing import Any

import click

from commodore.base.errors import CommodoreError
from commodore.base.events import Warned
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.cli.inventory.commands import hierarchy_folders, open_inventory
from commodore.cli.inventory.explanation import explanation_lines
from commodore.cli.inventory.parameter_completion import complete_parameters
from commodore.cli.inventory.settings import INVENTORY_EXPLAIN
from commodore.cli.shell.completion import complete_instances
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.options import options


@click.command("explain")
@click.argument("path", shell_complete=complete_parameters)
@hierarchy_folders
@options(*INVENTORY_EXPLAIN, complete={"instance": complete_instances})
@click.pass_context
def explain(ctx: click.Context, /, path: str, **values: Any) -> int:
    """Show which class files set the parameter PATH, in the order in which they are merged, and which one wins.

    PATH is written like argocd.images[0].tag, a key with dots in quotes: labels."a.b". The hierarchy is that of the
    cluster that was last compiled in the working directory, or that of the folders GLOBAL_CONFIG and TENANT_CONFIG for
    a fake cluster.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.core.inventory import compiled_targets, parse_path
    from commodore.core.inventory.explain import explain_parameter, path_text, target_of

    console = console_of(ctx)
    requested = parse_path(path)
    chosen = values["global_config"] is None and values["instance"] is None
    if chosen:
        values["instance"] = target_of(requested, compiled_targets(Workspace.at(working_dir(ctx))))
    with open_inventory(ctx, values, console) as preview:
        lenient = values["allow_missing_classes"]
        try:
            parameter = explain_parameter(preview, requested, console.context, ignore_missing_classes=lenient)
        except CommodoreError as error:
            raise _elsewhere(error) if chosen and preview.node == BOOTSTRAP_TARGET else error from None
    if values["output_format"] == "json":
        console.document("inventory-explain", parameter)
    else:
        console.result("\n".join(explanation_lines(parameter)))
    for item in parameter.everything():
        if not item.complete:
            console.announce(
                Warned(
                    "CMD-INV-080",
                    f"the definitions listed for {path_text(item.path)} do not add up to its value: some are missing",
                    hint="the value is right; report this with the class files that set the parameter",
                )
            )
    return 0 if parameter.is_set else 1


def _elsewhere(error: CommodoreError) -> CommodoreError:
    """The error for a parameter that the cluster lacks, with the hint that an instance may have it."""
    if error.code != "CMD-INV-041":
        return error
    hint = "; ".join(filter(None, (error.hint, "parameters that only an instance has: use --instance NAME")))
    return type(error)(error.code, error.message, hint=hint, locations=error.locations)
