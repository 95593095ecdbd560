"""`commodore help`: the help of a command, by its words."""

from __future__ import annotations

import click

from commodore.cli.shell.options import options


@click.command("help")
@click.argument("command", nargs=-1)
@options()
@click.pass_context
def help_of(ctx: click.Context, /, command: tuple[str, ...]) -> None:
    """Show the help of COMMAND, such as `catalog compile`; without one, that of the program."""
    root = ctx.find_root()
    with root.command.make_context(root.info_name, [*command, "--help"]) as inner:
        root.command.invoke(inner)
