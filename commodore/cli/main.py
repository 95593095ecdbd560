"""The entry point: options of the whole program, groups of commands, and error handling."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import stat
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import click

from commodore.base.errors import CommodoreError, EnvironmentFault, InternalError, UsageError
from commodore.base.events import ignore
from commodore.base.exhaustion import judge, refusal
from commodore.base.programs.child_processes import absolute_folders
from commodore.cli.shell.completion import VARIABLE, is_completing
from commodore.cli.shell.config_file import Configuration, read_configuration
from commodore.cli.shell.console import Console, color_by_default
from commodore.cli.shell.dotenv import load_dotenv
from commodore.cli.shell.interruption import keep_interruptions, stop_keeping_interruptions, without_interruptions
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import gather, misplaced_option, options
from commodore.cli.shell.settings.common import LOG_FORMAT, QUIET, REQUEST_TIMEOUT, WORKING_DIR
from commodore.cli.shell.settings.model import ENVIRONMENT_PREFIX
from commodore.cli.shell.streams import PipeClosed, finish_streams, prepare_streams
from commodore.cli.shell.variables import check_limits
from commodore.version import __version__

GLOBAL = (WORKING_DIR, REQUEST_TIMEOUT, QUIET, LOG_FORMAT)

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "auto_envvar_prefix": ENVIRONMENT_PREFIX}


@click.group(
    cls=LazyGroup,
    context_settings=CONTEXT,
    lazy={
        "argocd": LazyCommand("commodore.cli.argocd.group:argocd", "Show what Argo CD would deploy, from files alone."),
        "cache": LazyCommand("commodore.cli.machine.cache:cache", "Manage the caches."),
        "catalog": LazyCommand(
            "commodore.cli.catalog.commands:catalog", "Compile, explain, list and clean cluster catalogs."
        ),
        "component": LazyCommand("commodore.cli.authoring.component:component", "Work on components."),
        "completion": LazyCommand(
            "commodore.cli.machine.completion:completion", "Print the completion script for a shell."
        ),
        "config": LazyCommand("commodore.cli.machine.config:config", "Show the options that are set, and where."),
        "doctor": LazyCommand(
            "commodore.cli.machine.doctor:doctor", "Check the requirements of a compile, and show fixes."
        ),
        "explain": LazyCommand("commodore.cli.machine.explain:explain", "Explain an error code."),
        "fleet": LazyCommand(
            "commodore.cli.fleet.commands:fleet", "Generate the charts of a fleet, and compile its clusters."
        ),
        "help": LazyCommand("commodore.cli.machine.help:help_of", "Show the help of a command."),
        "hydrate": LazyCommand(
            "commodore.cli.hydrate.group:hydrate", "Render sources into branches with plain manifests."
        ),
        "init": LazyCommand("commodore.cli.machine.init:init", "Make an empty hierarchy to begin with."),
        "inventory": LazyCommand("commodore.cli.inventory.commands:inventory", "Inspect the hierarchy."),
        "fetch-token": LazyCommand("commodore.cli.machine.login:fetch_token", "Print a token for the Lieutenant API."),
        "login": LazyCommand("commodore.cli.machine.login:login", "Log in to the Lieutenant API."),
        "logout": LazyCommand("commodore.cli.machine.login:logout", "Log out of the Lieutenant API."),
        "observe": LazyCommand("commodore.cli.observe.commands:observe", "Report deployments from git to Kargo."),
        "package": LazyCommand("commodore.cli.authoring.package:package", "Work on configuration packages."),
        "tool": LazyCommand("commodore.cli.machine.tool:tool", "Manage the external tools."),
        "trust": LazyCommand("commodore.cli.machine.trust:trust", "Show the permissions of third-party code."),
        "version": LazyCommand("commodore.cli.machine.version:version", "Show versions of commodore and its tools."),
    },
)
@click.version_option(
    __version__, "--version", prog_name="commodore", message="%(prog)s, version %(version)s", allow_from_autoenv=False
)
@options(*GLOBAL)
@click.pass_context
def commodore(ctx: click.Context, /, **_values: Any) -> None:
    """Compile the GitOps catalog of a Kubernetes cluster."""
    ctx.obj = gather(ctx, GLOBAL)
    ctx.color = color_by_default()


def main() -> None:
    """Run the program and end the process with the exit code of the error's family."""
    signal.signal(signal.SIGTERM, _terminated)
    keep_interruptions()
    prepare_streams()
    if "PATH" in os.environ:
        os.environ["PATH"] = absolute_folders(os.environ["PATH"])
    _close_to_others()
    try:
        code = run(sys.argv[1:], dotenv=True)
    except PipeClosed:
        code = 141
    except KeyboardInterrupt:  # once more, while that was dealt with
        code = 130
    _leave(code)


def _close_to_others() -> None:
    """Set a umask that denies writes by others, and by the group unless the user's umask permits them."""
    mask = os.umask(0o022)
    if mask & stat.S_IWOTH:
        os.umask(mask)


def _leave(code: int) -> NoReturn:
    """End the process. Nothing is left to do, so nothing is taken apart piece by piece: that takes as long as a git
    command or two.
    """
    stop_keeping_interruptions()
    atexit._run_exitfuncs()
    finish_streams()
    if threading.active_count() > 1:
        sys.exit(code)
    os._exit(code)


def run(arguments: list[str], *, dotenv: bool = False) -> int:
    """Run one command line; returns the exit code. With `dotenv`, `.env` and the files of options are read first."""
    if is_completing():
        return _complete(arguments, dotenv=dotenv)
    configuration: Configuration | None = None
    try:
        check_limits()
        if dotenv:
            load_dotenv(current_directory(), _error_console(arguments).announce, arguments=arguments)
            configuration = read_configuration(current_directory())
        code = commodore.main(args=arguments, prog_name="commodore", standalone_mode=False, obj=configuration)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except CommodoreError as error:
        judged = judge(error)
        _error_console(arguments, configuration).error(judged)
        return judged.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        _error_console(arguments, configuration).error(_usage_error(error))
        return UsageError.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _aborted(arguments, configuration)
    except Exception as error:
        if _is_interruption(error):
            return _aborted(arguments, configuration)
        if os.environ.get("COMMODORE_TRACEBACK"):
            raise
        if (fault := refusal(error)) is not None:
            _error_console(arguments, configuration).error(fault)
            return fault.exit_code
        _error_console(arguments, configuration).error(
            InternalError(
                "CMD-CLI-070",
                f"internal error: {type(error).__name__}: {error}",
                hint="set COMMODORE_TRACEBACK=1, run again, and report what it shows",
            )
        )
        return InternalError.exit_code


def _aborted(arguments: list[str], configuration: Configuration | None) -> int:
    with without_interruptions():
        _error_console(arguments, configuration).aborted()
    return 130


def _is_interruption(error: BaseException) -> bool:
    """Return True if an error was caused by an interruption, which imports may raise as another type."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return any(isinstance(cause, KeyboardInterrupt) for cause in causes)


def _complete(arguments: list[str], *, dotenv: bool) -> int:
    """Print completions for the shell. The user is still typing: errors wait for the command itself."""
    with contextlib.suppress(Exception, KeyboardInterrupt):
        if dotenv:
            load_dotenv(current_directory(), ignore, arguments=arguments)
        commodore.main(args=arguments, prog_name="commodore", complete_var=VARIABLE, standalone_mode=False)
    return 0


def current_directory() -> Path:
    """The current directory.

    Raises:
        EnvironmentFault: it has been removed.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise EnvironmentFault(
            "CMD-CLI-003",
            f"the current directory cannot be used: {error.strerror}",
            hint="change to a folder that exists and run again",
        ) from error


def _usage_error(error: click.ClickException) -> UsageError:
    """Convert a usage error of click to a CommodoreError."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "commodore"
    hint = f"see '{command} --help'"
    if isinstance(error, click.NoSuchOption):
        requested = next((setting for setting in GLOBAL if error.option_name in setting.flags), None)
        if requested is not None:
            value = (
                ""
                if requested.kind == "switch"
                else requested.choices[-1]
                if requested.choices
                else requested.metavar or "SECONDS"
            )
            hint = misplaced_option(error.option_name, value, command)
        elif context is not None:
            error, replacement = _shown(error, context)
            hint = replacement or hint
    return UsageError("CMD-CLI-002", error.format_message().rstrip("."), hint=hint)


def _shown(error: click.NoSuchOption, context: click.Context) -> tuple[click.NoSuchOption, str]:
    """Return an error that suggests shown options only, and the hint for an option that the command has replaced."""
    from commodore.cli.shell.settings.replaced import REPLACED

    options = [parameter for parameter in context.command.get_params(context) if isinstance(parameter, click.Option)]
    flags = {flag for option in options if not option.hidden for flag in (*option.opts, *option.secondary_opts)}
    hint = REPLACED.get((*context.command_path.split(), "", "")[1], {}).get(error.option_name, "")
    if not flags & {*hint.split()}:
        hint = ""
    near = [] if hint else [flag for flag in error.possibilities or () if flag in flags]
    return click.NoSuchOption(error.option_name, possibilities=near, ctx=context), hint


def _error_console(arguments: list[str], configuration: Configuration | None = None) -> Console:
    """Errors may come before options are parsed; only the log format matters then."""
    words = [part for word in arguments for part in (word.split("=", 1) if word.startswith("--") else [word])]
    given = [value for option, value in itertools.pairwise(words) if option == "--log-format"][-1:]
    entries = configuration.entries((), ["log-format"]) if configuration is not None else ()
    given += [os.environ.get("COMMODORE_LOG_FORMAT", ""), *(str(entry.value) for _, entry in entries)]
    is_json = next(filter(None, given), "").lower() == "json"
    return Console(log_format="json" if is_json else "text", color=color_by_default())


def _terminated(_number: int, _frame: object) -> None:
    """A polite request to end is handled like Ctrl-C: children are ended, staging folders removed."""
    raise KeyboardInterrupt
