"""Environment variables that set options, and unknown ones with the same prefixes."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator

import click

from commodore.base.errors import UsageError
from commodore.base.events import Announce, Warned
from commodore.base.limits import VARIABLE as LIMITS
from commodore.base.limits import read_limits
from commodore.base.programs.child_processes import LISTED
from commodore.cli.shell.settings.model import ENVIRONMENT_PREFIX

_DECLARES = re.compile(r"\.settings\.|(\.|access_|compared_|compile_|cache_|tool_)settings$")
"""Modules that declare options."""
_START = f"{ENVIRONMENT_PREFIX}_"
_OTHERS = frozenset({f"{_START}COMPLETE", LISTED, LIMITS, f"{_START}TRACEBACK"})
"""Variables of the program that are not options."""
_SERVICE_LINK = re.compile(r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)")
"""Kubernetes gives such variables to each container of a namespace that has a Service called commodore-..."""
_WRITING = frozenset({"dry_run", "push"})
"""Commands with one of these options write to places that others see."""
_LIKENESS = 0.8
"""From here on a word counts as another one that is misspelt."""


def variables_of(option: click.Option, ctx: click.Context) -> list[str]:
    """The variables that set an option of a command, the strongest first.

    They are the one that the option names, the one of the command, and those of the groups that the command is in, the
    nearest first. The program is not such a group: its options alone are `COMMODORE_` and a name.
    """
    named = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    return [*dict.fromkeys([*map(str, named), *_automatic(option, ctx)])]


def _automatic(option: click.Option, ctx: click.Context) -> Iterator[str]:
    at: click.Context | None = ctx
    # Numbers of -v add up over the words of a command: one variable must not count twice.
    while at is not None and (at is ctx or (at.parent is not None and not option.count)):
        yield f"{at.auto_envvar_prefix}_{(option.name or '').upper()}"
        at = at.parent


def check_limits() -> None:
    """See that the variable with limits can be read: what it does not set right would have its usual value.

    Raises:
        UsageError: CMD-CLI-012, it cannot.
    """
    try:
        read_limits(os.environ.get(LIMITS, ""))
    except ValueError as error:
        raise UsageError(
            "CMD-CLI-012",
            f"the variable {LIMITS} cannot be read: {error}",
            hint=f'write it like {LIMITS}="rendering_bytes=8GiB rendering_seconds=120"; the page about limits has all',
        ) from error


def check_variables(ctx: click.Context, announce: Announce) -> None:
    """See that each variable that begins with the program's name sets an option.

    Args:
        ctx: the context of the command that is to run.
        announce: gets a warning for each that does not.

    Raises:
        UsageError: CMD-CLI-008, the command writes where others see it, and the variable seems to be meant for it.
    """
    names = [item for item in os.environ if item.startswith(_START) and not _SERVICE_LINK.search(item)]
    own = set(_OTHERS)
    at: click.Context | None = ctx
    while at is not None:
        own |= {name for option in _options(at.command) for name in variables_of(option, at)}
        at = at.parent
    root = ctx.find_root()
    for name in sorted(names):
        if name not in own and not _is_known(name, root):
            _report(name, own, ctx, announce)


def _report(name: str, own: set[str], ctx: click.Context, announce: Announce) -> None:
    is_writing = any(option.name in _WRITING for option in _options(ctx.command))
    message = f"the variable {name} sets no option"
    if is_writing and (_is_of_group(name, ctx) or _is_like_a_switch(name, ctx.command)):
        hint = _nearest(name, own) or f"see '{ctx.command_path} --help' for the variables of its options"
        raise UsageError("CMD-CLI-008", f"{message}, so nothing was done", hint=hint)
    hint = _nearest(name, _all_variables(ctx.find_root())) or "the help of a command has the variables of its options"
    announce(Warned("CMD-CLI-009", message, hint=hint))


def _nearest(name: str, variables: Iterable[str]) -> str:
    ends = [variable.removeprefix(_START) for variable in variables]
    near = difflib.get_close_matches(name.removeprefix(_START), ends, n=1, cutoff=0.5)
    return f"did you mean {_START}{near[0]}?" if near else ""


def _is_of_group(name: str, ctx: click.Context) -> bool:
    """Return True if a variable has the prefix of the command's outermost group, or of the command."""
    at = ctx
    while at.parent is not None and at.parent.parent is not None:
        at = at.parent
    return at.parent is not None and name.startswith(f"{at.auto_envvar_prefix}_")


def _is_like_a_switch(name: str, command: click.Command) -> bool:
    switches = [(option.name or "").upper() for option in _options(command) if option.is_flag]
    return bool(difflib.get_close_matches(name.removeprefix(_START), switches, cutoff=_LIKENESS))


def _is_known(name: str, root: click.Context) -> bool:
    """Return True if a variable sets an option of any command. Only commands named by its words are loaded."""
    if name in _named():
        return True
    return any(name in _of_command(ctx) for ctx in _contexts(root, name))


def _all_variables(root: click.Context) -> set[str]:
    return {*_named(), *(name for ctx in _contexts(root, "") for name in _of_command(ctx))}


def _of_command(ctx: click.Context) -> Iterator[str]:
    for option in _options(ctx.command):
        yield from variables_of(option, ctx)


def _contexts(ctx: click.Context, name: str) -> Iterator[click.Context]:
    """A command and all below it whose variables may be called so; for an empty name all."""
    yield ctx
    if isinstance(ctx.command, click.Group):
        group = ctx.command
        for word in group.list_commands(ctx):
            prefix = f"{ctx.auto_envvar_prefix}_{word.upper().replace('-', '_')}_"
            if name.startswith(prefix) or not name or _is_in_group(name, ctx):
                command = group.get_command(ctx, word)
                if command is not None:
                    yield from _contexts(click.Context(command, parent=ctx, info_name=word), name)


def _is_in_group(name: str, ctx: click.Context) -> bool:
    """Return True if a variable may belong to a group for all of its commands."""
    return ctx.parent is not None and name.startswith(f"{ctx.auto_envvar_prefix}_")


def _options(command: click.Command) -> list[click.Option]:
    return [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.allow_from_autoenv
    ]


def _named() -> set[str]:
    """The variables that options of the program name."""
    import importlib
    import pkgutil

    import commodore.cli
    from commodore.cli.shell.settings.model import Setting

    def settings(value: object) -> Iterable[Setting]:
        if isinstance(value, Setting):
            yield value
        elif isinstance(value, tuple):
            for part in value:
                yield from settings(part)

    names = [package.name for package in pkgutil.walk_packages(commodore.cli.__path__, "commodore.cli.")]
    modules = [importlib.import_module(name) for name in names if _DECLARES.search(name)]
    values = [value for module in modules for value in vars(module).values()]
    return {setting.environment for value in values for setting in settings(value) if setting.environment}
