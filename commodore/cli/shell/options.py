"""Click options from the declarations in `commodore.cli.shell.settings`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from commodore.base.errors import InputError, UsageError
from commodore.cli.shell.config_file import ConfigEntry, command_words, configured, long_names
from commodore.cli.shell.help_text import HelpedOption
from commodore.cli.shell.settings.common import VERBOSE
from commodore.cli.shell.settings.model import Setting, Settings, Source, Value
from commodore.cli.shell.variables import variables_of

Complete = Callable[[click.Context, click.Parameter, str], Any]
"""What the shell may complete: the context, the option and what is typed, to the texts that are meant perhaps."""


def options(
    *settings: Setting, complete: Mapping[str, Complete] = MappingProxyType({})
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a command with options, in the order given, and with `-v`, which adds up over all levels.

    Args:
        complete: what the shell completes, by the name of the option.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for setting in (VERBOSE, *reversed(settings)):
            attributes = {**_attributes(setting), "shell_complete": complete.get(setting.name)}
            function = click.option(*_declaration(setting), cls=_Option, **attributes)(function)
        return function

    return decorate


class _Option(HelpedOption):
    """An option that treats an empty text as absent, as scripts pass on unset variables.

    Args:
        narrows: an empty text is an error.
    """

    def __init__(self, *args: Any, narrows: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._narrows = narrows

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        given = opts.get(self.name or "")
        if self.in_files and self.name in opts and given != ():
            raise _not_on_the_command_line(self, ctx)
        if self._narrows and (given == "" or (isinstance(given, list | tuple) and "" in given)):
            raise click.BadParameter("it is empty", ctx, self)
        if self.multiple and isinstance(given, list | tuple):
            kept: Any = [item for item in given if item != ""]
            opts = {**opts, self.name or "": kept}
            given = kept or ""
        if given == "":
            opts = {name: value for name, value in opts.items() if name != self.name}
        value, source = super().consume_value(ctx, opts)
        if source is ParameterSource.DEFAULT and (entry := configured(ctx, self)) is not None:
            return self._converted(ctx, entry), ParameterSource.DEFAULT_MAP
        return value, source

    def _converted(self, ctx: click.Context, entry: ConfigEntry) -> Any:
        """The value of a file's entry as click takes it.

        Raises:
            InputError: CMD-CLI-017, the option cannot have such a value.
        """
        value = entry.value
        if self.multiple and not isinstance(value, list):
            value = [value]
        try:
            for each in value if self.multiple else [value]:
                if each is None or isinstance(each, list) or isinstance(each, bool) != self.is_flag:
                    raise click.BadParameter(
                        f"{_in_words(each)} is not {'true or false' if self.is_flag else 'one value'}"
                    )
            self.type_cast_value(ctx, value)
        except click.BadParameter as error:
            name = long_names(self)[0]
            raise InputError(
                "CMD-CLI-017",
                f"{name} cannot have this value: {error.message.rstrip('.')}",
                hint=f"see '{ctx.command_path} --help' for the values of --{name}",
                locations=[entry.place],
            ) from error
        return value


def _not_on_the_command_line(option: _Option, ctx: click.Context) -> UsageError:
    name = long_names(option)[0]
    group = (*command_words(ctx), "")[0]
    return UsageError(
        "CMD-CLI-018",
        f"--{name} describes a repository: .commodore.yaml sets it, not the command line",
        hint=f"write '{name}: ...' below '{group}:' there, or set {variables_of(option, ctx)[-1]}",
    )


class _ReportFile(click.ParamType[tuple[str, Path]]):
    """A file for a report, and its form: what stands before `=`, else what the file's name ends in.

    Args:
        forms: the supported formats.
    """

    name = "report"

    def __init__(self, forms: Sequence[str]) -> None:
        self._forms = forms

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        if isinstance(value, tuple):
            return value
        form, _, file = value.partition("=")
        if form not in self._forms:
            form, file = _ENDINGS.get(Path(value).suffix.lower(), ""), value
        if form not in self._forms or not file:
            endings = ", ".join(ending for ending, form in _ENDINGS.items() if form in self._forms)
            self.fail(
                f"{value!r} ends in none of {endings}; write FORM=FILE, as in {self._forms[0]}={value}", param, ctx
            )
        return form, Path(file)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


_ENDINGS = {".json": "json", ".md": "markdown", ".html": "html", ".sarif": "sarif"}


def gather(ctx: click.Context, settings: Sequence[Setting]) -> Settings:
    """The values of a command's options with their sources."""
    return Settings(
        {
            setting.name: Value(setting, ctx.params[setting.name], _source(ctx, setting.name))
            for setting in settings
            if setting.name in ctx.params
        }
    )


def misplaced_option(flag: str, value: str, command: str) -> str:
    """The hint that an option of the whole program stands before the words of a command, with an example.

    Args:
        command: all words of the command, the program's name first.
    """
    program, _, words = command.partition(" ")
    example = " ".join(filter(None, (program, flag, value, words)))
    return f"global options go before the command: {example} ..."


def _source(ctx: click.Context, name: str) -> Source:
    source = ctx.get_parameter_source(name)
    if source is ParameterSource.COMMANDLINE:
        return "command line"
    if source is ParameterSource.DEFAULT_MAP:
        return "configuration file"
    return "environment" if source is ParameterSource.ENVIRONMENT else "default"


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return json.dumps(value) if isinstance(value, bool) or value is None else repr(value)


def _declaration(setting: Setting) -> tuple[str, ...]:
    return (setting.name, *setting.flags, *setting.aliases)


def _attributes(setting: Setting) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "help": setting.help,
        "metavar": setting.metavar,
        "multiple": setting.multiple,
        "hidden_flags": setting.aliases,
        "narrows": setting.narrows,
        "secret": setting.secret,
        "in_files": setting.in_files,
    }
    if setting.environment:
        attributes["envvar"] = [setting.environment]
    if not setting.multiple and setting.kind != "count":
        attributes["default"] = setting.default
    if setting.bare is not None:
        attributes.update(is_flag=False, flag_value=setting.bare)
    if setting.default not in (None, "", False, 0) and setting.kind not in ("switch", "count"):
        attributes["show_default"] = True
    if setting.name == "verbose":
        attributes.update(count=True, expose_value=False, callback=_add_verbosity)
        del attributes["multiple"]
        return attributes
    if setting.name == "color":
        attributes.update(expose_value=False, callback=_set_color)
    if setting.kind == "switch":
        attributes.update(is_flag=True, show_default="/" in setting.flags[-1])
        del attributes["metavar"]
    elif setting.kind != "count":
        attributes["type"] = _type(setting)
    return attributes


def _type(setting: Setting) -> click.ParamType[Any] | type:
    if setting.kind == "choice":
        return click.Choice(setting.choices, case_sensitive=False)
    if setting.kind == "report":
        return _ReportFile(setting.choices)
    if setting.kind == "integer":
        return click.IntRange(min=0)
    if setting.kind == "percent":
        return click.IntRange(min=0, max=100)
    if setting.kind == "seconds":
        return click.FloatRange(min=0, min_open=True)
    if setting.kind == "path":
        return click.Path(path_type=Path)
    if setting.kind == "folder":
        return click.Path(exists=True, file_okay=False, path_type=Path)
    if setting.kind == "file":
        return click.Path(exists=True, dir_okay=False, path_type=Path)
    return str


def _set_color(ctx: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Let what is shown be coloured, or not, also by the groups that the command is in: these show its errors."""
    if value != "auto":
        item: click.Context | None = ctx
        while item is not None:
            item.color = value == "always"
            item = item.parent
    return value


def _add_verbosity(ctx: click.Context, _parameter: click.Parameter, value: int) -> int:
    ctx.find_root().meta["verbosity"] = ctx.find_root().meta.get("verbosity", 0) + (value or 0)
    return value
