"""Click groups that import a command only when it runs, so that help and completion stay quick."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from commodore.base.errors import UsageError, did_you_mean
from commodore.cli.shell.help_text import Helped


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """The location of a command (`package.module:attribute`), and its line in lists of commands."""

    place: str
    summary: str

    def load(self) -> Helped:
        """The command, with the help that all commands have."""
        module, attribute = self.place.split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command if isinstance(command, Helped) else Helped.of(command)


class LazyGroup(Helped, click.Group):
    """A group whose commands are named in a table."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self._loaded: dict[LazyCommand, click.Command] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        result = self.lazy.get(cmd_name)
        if result is not None and result not in self._loaded:
            self._loaded[result] = result.load()
        return self._loaded[result] if result is not None else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            raise UsageError(
                "CMD-CLI-001",
                f"there is no command '{ctx.command_path} {args[0]}'",
                hint=did_you_mean(args[0], self.lazy) or f"see '{ctx.command_path} --help'",
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Click would print an empty line at Ctrl-C, which is not JSON."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.lazy[name].summary) for name in self.list_commands(ctx)])
