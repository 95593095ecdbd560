"""`commodore completion`: completion scripts for shells."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from commodore.cli.shell.completion import VARIABLE
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@options()
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print the script for SHELL that completes commodore's commands, options and values.

    bash: commodore completion bash > ~/.local/share/bash-completion/completions/commodore

    zsh: commodore completion zsh > ~/.zfunc/_commodore, a folder that is in fpath before compinit is called

    fish: commodore completion fish > ~/.config/fish/completions/commodore.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    console_of(ctx).data(kind(ctx.find_root().command, {}, "commodore", VARIABLE).source(), newline=False)
