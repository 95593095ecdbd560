"""`commodore doctor`: checks of the requirements of a compile, with fixes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import counted, printable_lines
from commodore.base.strictness import LOWERABLE
from commodore.cli.shell.console import Console, console_of, fitted, working_dir
from commodore.cli.shell.lieutenant import connect
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import DOCTOR

if TYPE_CHECKING:
    from commodore.catalog import Repair
    from commodore.cli.machine.machine_checks import Check

_COLOURS = {"ok": "green", "warning": "yellow", "failed": "red", "skipped": "bright_black"}


@dataclass(frozen=True, slots=True)
class Checks:
    """Everything that a compile needs, and its state."""

    checks: Sequence[Check]


@dataclass(frozen=True, slots=True)
class Repairs:
    """The repairs that a cluster needs before this program compiles it."""

    repairs: Sequence[Repair]


@click.command("doctor")
@options(*DOCTOR)
@click.pass_context
def doctor(ctx: click.Context, /, **values: Any) -> int:
    """Check the requirements of a compile: git, tools, the program's name, API, token and cache; and show fixes.

    Nothing is changed. Without a URL of the API neither it nor a token is looked at. The exit code is 0 if all is well
    or there are only warnings, else the highest of what is wrong: 3 for something on this machine or in the network,
    1 and 2 for something that you gave.

    With --switch, one cluster is compiled as by syn-commodore, in the working directory and without a push, and what
    this program would stop at is listed with how to repair it. The exit code is 1 if there is something to repair.
    """
    from commodore.cli.machine.machine_checks import Installation, examine
    from commodore.core.results.caches import token_cache

    console = console_of(ctx)
    if values["switch"]:
        return _switch(ctx, values, console)
    installation = Installation(
        program=_program(),
        api_url=(values["api_url"] or "").strip() or None,
        api_token=values["api_token"],
        tokens=token_cache(),
        timeout=ctx.find_root().obj["request_timeout"],
    )
    with console.working():
        checks = tuple(examine(installation, console.context))
    if values["output_format"] == "json":
        console.document("doctor", Checks(checks))
    else:
        _show(checks, console)
    return max(check.exit_code for check in checks)


def _switch(ctx: click.Context, values: dict[str, Any], console: Console) -> int:
    """Print the required repairs of a cluster. Returns 1 if there are some."""
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import CatalogCompile, find_repairs
    from commodore.core.lieutenant import ClusterFile, LieutenantApi

    repairs: list[Repair] = []
    request = CatalogCompile(values["switch"], Workspace.at(working_dir(ctx)))
    try:
        if values["cluster_file"] is not None:
            with console.working():
                find_repairs(request, ClusterFile(values["cluster_file"], {}), console.context, repairs.append)
        else:
            with connect(ctx, values, console) as client, console.working():
                find_repairs(request, LieutenantApi(client, {}), console.context, repairs.append)
    finally:
        _show_repairs(repairs, console, as_json=values["output_format"] == "json")
    if repairs:
        codes = " ".join(f"--allow {code}" for code in sorted({repair.code for repair in repairs} & LOWERABLE.keys()))
        console.status(f"{len(repairs)} to repair." + (f" It compiles with {codes}." if codes else ""))
        return 1
    console.status(f"Nothing needs repair: {values['switch']} compiles as it is.")
    return 0


def _show_repairs(repairs: Sequence[Repair], console: Console, *, as_json: bool) -> None:
    if as_json:
        console.document("doctor-switch", Repairs(repairs))
        return
    for item in repairs:
        console.result(fitted(f"{item.code}  {printable_lines(item.message)}", sys.stdout))
        if item.effect:
            console.result(fitted(f"  until then: {item.effect}", sys.stdout))
        console.result(fitted(f"  repair: {printable_lines(item.repair)}", sys.stdout))


def _show(checks: tuple[Check, ...], console: Console) -> None:
    wide = max(len(check.name) for check in checks)
    for check in checks:
        code = f" [{check.code}]" if check.code else ""
        row = f"{check.name:<{wide}}  {check.state:<7}  "
        message = fitted(f"{row}{printable_lines(check.message)}{code}", sys.stdout, len(row))
        state = click.style(f"{check.state:<7}", fg=_COLOURS[check.state])
        console.result(f"{check.name:<{wide}}  {state}  {message.removeprefix(row)}")
        if check.cure:
            console.result(fitted(f"{'':<{len(row)}}fix: {printable_lines(check.cure)}", sys.stdout, len(row) + 2))
    wrong = sum(check.state == "failed" for check in checks)
    warned = sum(check.state == "warning" for check in checks)
    if wrong or warned:
        warnings = f", {warned} with a warning" if warned else ""
        console.status(f"{wrong} of {counted(len(checks), 'check')} failed{warnings}.")
    else:
        console.status("All is well.")


def _program() -> Path:
    """Return the started executable: the command, or if the interpreter was started, the command in its folder."""
    started = Path(sys.argv[0])
    return started.absolute() if started.name == "commodore" else Path(sys.executable).absolute().with_name("commodore")
