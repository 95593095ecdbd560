"""The help of commands: examples first, then options under headings, and a link to the documentation."""

from __future__ import annotations

import os
import re
from typing import Any

import click
from click.shell_completion import CompletionItem

from commodore.cli.shell.config_file import check_configuration, long_names
from commodore.cli.shell.settings.headings import FIRST, HEADINGS
from commodore.cli.shell.variables import check_variables, variables_of

_MANY = 9
"""With more options than this, they stand under headings."""
_COLUMN = 30
"""What is longer than this has its text on the next line."""
_PLAIN = "Options"
_MOST = 70
"""A help with more lines is cut to the options that are used first; `--help-all` shows the others."""
_ENDS = re.compile(r"[.;] ")
_CUT = f"{__name__}.cut"


class HelpedOption(click.Option):
    """An option with names that are taken and not shown.

    Args:
        hidden_flags: these names.
        secret: its value is never shown.
        in_files: files and variables set it, not the command line.
    """

    def __init__(
        self,
        *args: Any,
        hidden_flags: tuple[str, ...] = (),
        secret: bool = False,
        in_files: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **{**kwargs, "hidden": in_files})
        self.hidden_flags = hidden_flags
        self.in_files = in_files
        self.secret = secret

    @property
    def shown_flags(self) -> list[str]:
        """The names that are shown."""
        return [flag for flag in self.opts if flag not in self.hidden_flags]

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the text in brackets after the help; of several variables, the most widely shared one."""
        extra = super().get_help_extra(ctx)
        if ctx.meta.get(_CUT):
            return {name: value for name, value in extra.items() if name == "default"}
        named = [self.envvar] if isinstance(self.envvar, str) else list(self.envvar or ())
        extra["envvars"] = (str(named[0]) if named else variables_of(self, ctx)[-1],)
        return extra

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """The value of the strongest variable that has one."""
        return next((value for name in variables_of(self, ctx) if (value := os.environ.get(name))), None)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the help record without hidden names."""
        every, self.opts = self.opts, self.shown_flags
        whole = self.help
        if whole is not None and ctx.meta.get(_CUT):
            self.help = _first_sentence(whole)
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts, self.help = every, whole


class Helped(click.Command):
    """A command whose help has examples, headings, and a line that says where to read more."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, with `--help-all`, which is shown where `--help` leaves something out."""
        params = super().get_params(ctx)
        return [*params[:-1], _help_all(is_hidden=not ctx.meta.get(_CUT)), *params[-1:]]

    def get_help(self, ctx: click.Context) -> str:
        """The help: all of it if it is short, otherwise the options that are used first."""
        text = self.full_help(ctx)
        if isinstance(self, click.Group) or len(text.splitlines()) <= _MOST:
            return text
        ctx.meta[_CUT] = True
        try:
            return super().get_help(ctx)
        finally:
            ctx.meta[_CUT] = False

    def full_help(self, ctx: click.Context) -> str:
        """The help with all options and their variables."""
        return super().get_help(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The description, and below it the examples."""
        super().format_help_text(ctx, formatter)
        from commodore.cli.shell.examples import examples_of

        examples = examples_of(ctx.command_path)
        if examples:
            with formatter.section("Examples"):
                for line in examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")

    @classmethod
    def of(cls, command: click.Command) -> Helped:
        """The same command with such a help."""
        return cls(
            command.name,
            command.context_settings,
            command.callback,
            command.params,
            command.help,
            short_help=command.short_help,
            no_args_is_help=command.no_args_is_help,
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless a variable that is meant for it is misspelt, or a file of options is wrong."""
        if not isinstance(self, click.Group):
            check_configuration(ctx)
            from commodore.cli.shell.console import console_of

            check_variables(ctx, console_of(ctx).announce)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, under headings if there are many; the commands of a group come last."""
        every = [
            parameter
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and not parameter.hidden
        ]
        is_cut = ctx.meta.get(_CUT)
        options = [item for item in every if _name(item) in FIRST or item.required] if is_cut else every
        many = len(options) > _MANY
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in (_PLAIN, *HEADINGS)}
        for option in sorted(options, key=_place) if many else options:
            record = option.get_help_record(ctx)
            if record is not None:
                sections[_heading(option) if many else _PLAIN].append(record)
        width = min(_COLUMN, max((len(flags) for records in sections.values() for flags, _ in records), default=0))
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl([(flags.ljust(width), text) for flags, text in records])
        if not is_cut and (
            records := [_in_file(parameter, ctx) for parameter in self.params if _is_in_files(parameter)]
        ):
            with formatter.section("In .commodore.yaml, not on the command line"):
                formatter.write_dl([(name.ljust(_COLUMN), text) for name, text in records])
        if is_cut:
            formatter.write_paragraph()
            more = len(every) - len(options) - 1  # --help-all stands here
            formatter.write_text(f"{more} more options: {ctx.command_path} --help-all")
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the link to the documentation."""
        from commodore.cli.shell.examples import page_of

        formatter.write_paragraph()
        formatter.write_text(f"Documentation: {page_of(ctx.command_path)} in commodore's repository")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return completions without hidden names."""
        hidden = {
            flag
            for parameter in self.get_params(ctx)
            if isinstance(parameter, HelpedOption)
            for flag in parameter.hidden_flags
        }
        return [item for item in super().shell_complete(ctx, incomplete) if item.value not in hidden]


def _help_all(*, is_hidden: bool) -> click.Option:
    def show(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and isinstance(ctx.command, Helped):
            click.echo(ctx.command.full_help(ctx), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        hidden=is_hidden,
        callback=show,
        help="Show all options and their variables, and exit.",
        allow_from_autoenv=False,
    )


def _is_in_files(parameter: click.Parameter) -> bool:
    return isinstance(parameter, HelpedOption) and parameter.in_files


def _in_file(option: click.Parameter, ctx: click.Context) -> tuple[str, str]:
    assert isinstance(option, HelpedOption)
    option.hidden = False
    try:
        record = option.get_help_record(ctx)
    finally:
        option.hidden = True
    return long_names(option)[0], record[1] if record else ""


def _first_sentence(text: str) -> str:
    return f"{_ENDS.split(text, maxsplit=1)[0].rstrip('.')}."


def _heading(option: click.Option) -> str:
    """Under which heading an option stands where there are many."""
    return next((title for title, names in HEADINGS.items() if _name(option) in names), _PLAIN)


def _place(option: click.Option) -> int:
    """Return the sort key below its heading; options without one keep their order."""
    names = HEADINGS.get(_heading(option), ())
    return names.index(_name(option)) if names else 0


def _name(option: click.Option) -> str:
    return "help" if "--help" in option.opts else option.name or ""
