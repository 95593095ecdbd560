"""`commodore config`: the options that files and variables set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from commodore.base.errors import UsageError, did_you_mean
from commodore.base.printable import printable
from commodore.cli.machine.config_settings import CONFIG_SHOW
from commodore.cli.shell.config_file import configuration_of, configured, long_names, user_file
from commodore.cli.shell.console import console_of
from commodore.cli.shell.help_text import HelpedOption
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options
from commodore.cli.shell.variables import variables_of


@click.group(
    cls=LazyGroup,
    lazy={"show": LazyCommand("commodore.cli.machine.config:config_show", "Show the options that are set, and where.")},
)
@options()
def config() -> None:
    """Show the options that `.commodore.yaml`, the user's own file and variables set."""


@dataclass(frozen=True, slots=True)
class Line:
    """An option of a command with its value.

    Attributes:
        command: the words of the command.
        value: None where the option has no default.
        source: a variable, a file with the line, or `default`.
    """

    command: str
    option: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class ShownConfig:
    """The options that are set, and the files that were read for them."""

    files: tuple[Path, ...]
    options: tuple[Line, ...]


@click.command("show")
@click.argument("command", nargs=-1)
@options(*CONFIG_SHOW)
@click.pass_context
def config_show(ctx: click.Context, /, command: Sequence[str], **values: Any) -> None:
    """Show the options of a command that a variable or a file sets, with their values and sources.

    Without COMMAND the options of all commands. Options that keep their defaults are left out unless --all is given.
    Secrets are not shown.
    """
    console = console_of(ctx)
    root = ctx.find_root()
    files = configuration_of(ctx).files
    shown = [
        line for context in _contexts(_named(root, command)) for line in _lines(context, all_=values["everything"])
    ]
    if values["output_format"] == "json":
        console.document("config-show", ShownConfig(tuple(file.path for file in files), tuple(shown)))
        return
    console.note(
        f"read: {', '.join(str(file.path) for file in files) or f'neither .commodore.yaml nor {user_file()} exists'}"
    )
    before = ""
    for line in shown:
        if line.command != before:
            console.result(line.command or "commodore")
            before = line.command
        console.result(printable(f"  --{line.option} = {_text(line.value)}  ({line.source})"))


def _named(root: click.Context, words: Sequence[str]) -> click.Context:
    """The context of a command by its words."""
    context = root
    for word in words:
        group = context.command
        known = group.list_commands(context) if isinstance(group, click.Group) else []
        command = group.get_command(context, word) if isinstance(group, click.Group) else None
        if command is None:
            raise UsageError(
                "CMD-CLI-001",
                f"there is no command '{context.command_path} {word}'",
                hint=did_you_mean(word, known) or f"see '{context.command_path} --help'",
            )
        context = click.Context(command, parent=context, info_name=word)
    return context


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """A command and all below it."""
    yield context
    if isinstance(context.command, click.Group):
        for word in context.command.list_commands(context):
            command = context.command.get_command(context, word)
            if command is not None:
                yield from _contexts(click.Context(command, parent=context, info_name=word))


def _lines(context: click.Context, *, all_: bool) -> Iterator[Line]:
    words = context.command_path.partition(" ")[2]
    for option in context.command.params:
        if not isinstance(option, HelpedOption) or not (names := long_names(option)):
            continue
        value, source = option.consume_value(context, {})
        if source is ParameterSource.DEFAULT and not all_:
            continue
        place = _source(option, source, context)
        shown = "…" if option.secret and value not in (None, "") else value
        yield Line(words, names[0], list(shown) if isinstance(shown, tuple) else shown, place)


def _source(option: HelpedOption, source: ParameterSource, context: click.Context) -> str:
    if source is ParameterSource.ENVIRONMENT:
        return next((name for name in variables_of(option, context) if os.environ.get(name)), "environment")
    if source is ParameterSource.DEFAULT_MAP and (entry := configured(context, option)) is not None:
        return str(entry.place)
    return "default"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
