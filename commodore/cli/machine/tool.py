"""`commodore tool`: manage the external tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import CommodoreError, UsageError, raise_all
from commodore.base.events import Warned
from commodore.base.printable import printable_lines
from commodore.cli.machine.tool_settings import TOOL, TOOL_INSTALL, TOOL_LIST, TOOL_UNINSTALL, TOOL_UPGRADE
from commodore.cli.shell.console import Console, console_of
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.core.tools import Choice, InstallOutcome, Releases, Toolbox, ToolStatus

_TOKEN = "commodore.github_token"  # noqa: S105 - the name under which the group hands it on


@dataclass(frozen=True, slots=True)
class ListedTools:
    """The external tools as they are on this machine."""

    tools: Sequence[ToolStatus]


@click.group(
    cls=LazyGroup,
    lazy={
        "install": LazyCommand("commodore.cli.machine.tool:tool_install", "Install external tools."),
        "list": LazyCommand("commodore.cli.machine.tool:tool_list", "List external tools."),
        "uninstall": LazyCommand("commodore.cli.machine.tool:tool_uninstall", "Remove managed tools."),
        "upgrade": LazyCommand("commodore.cli.machine.tool:tool_upgrade", "Upgrade managed tools."),
    },
)
@options(*TOOL)
@click.pass_context
def tool(ctx: click.Context, /, github_token: str | None) -> None:
    """Manage the external tools helm and kustomize.

    Tools in PATH are used wherever they come from. Tools that commodore installs are in
    `$XDG_CACHE_HOME/commodore/tools` and are used where PATH has none. `jb` is not needed.
    """
    ctx.meta[_TOKEN] = github_token


@click.command("list")
@options(*TOOL_LIST)
@click.pass_context
def tool_list(ctx: click.Context, /, **values: Any) -> None:
    """List the tools: version, location, whether they are managed, and the latest release."""
    from commodore.core.tools import Toolbox, survey_tools

    console = console_of(ctx)
    tools = survey_tools(Toolbox.of_user(), _releases(ctx, console, values), check=values["version_check"])
    if values["out"] == "json":
        console.document("tool-list", ListedTools(tools))
        return
    for number, status in enumerate(tools):
        if number:
            console.result("")
        for line in _lines(status, checked=values["version_check"]):
            console.result(line)


@click.command("install")
@click.argument("tool", required=False)
@options(*TOOL_INSTALL)
@click.pass_context
def tool_install(ctx: click.Context, /, tool: str | None, **values: Any) -> None:
    """Install TOOL, or with --missing all tools that are found nowhere.

    Archives come from the projects' release servers and are installed only if their SHA-256 is the one that
    commodore knows, or for other versions the one of the project's checksum file. A tool that is managed already
    stays as it is.
    """
    from commodore.core.tools import Toolbox, install_tool, missing_tools

    console = console_of(ctx)
    _check_choice(tool, "--missing", values["missing"], values, console)
    box, releases = Toolbox.of_user(), _releases(ctx, console, values)
    choice = _choice(values, single=tool is not None)
    if values["argocd"]:
        box, choice = _of_argocd(tool, values, console)
    if tool is not None:
        with console.working():
            outcome = install_tool(tool, choice, box, releases)
        _print_outcome(outcome, console)
        return
    requested = []
    for name, result in missing_tools(box).items():
        if result is None:
            requested.append(name)
        else:
            console.status(f"{name} is found: {result.path}")
    _each(requested, lambda name: install_tool(name, choice, box, releases), console)


@click.command("upgrade")
@click.argument("tool", required=False)
@options(*TOOL_UPGRADE)
@click.pass_context
def tool_upgrade(ctx: click.Context, /, tool: str | None, **values: Any) -> None:
    """Upgrade TOOL, or with --all every managed tool.

    The old tool stays in use until the new one has been downloaded, verified and tried.
    """
    from commodore.core.tools import Toolbox, managed_tools, upgrade_tool

    console = console_of(ctx)
    _check_choice(tool, "--all", values["all"], values, console)
    box, releases = Toolbox.of_user(), _releases(ctx, console, values)
    choice = _choice(values, single=tool is not None)
    names = [tool] if tool is not None else managed_tools(box)
    if not names:
        console.status("No tool is managed by commodore; see 'commodore tool install --help'")
    _each(names, lambda name: upgrade_tool(name, choice, box, releases), console)


@click.command("uninstall")
@click.argument("tool", required=False)
@options(*TOOL_UNINSTALL)
@click.pass_context
def tool_uninstall(ctx: click.Context, /, tool: str | None, **values: Any) -> None:
    """Remove TOOL from the managed folder, or with --all every managed tool. Tools elsewhere stay."""
    from commodore.core.tools import Toolbox, managed_tools, uninstall_tool

    console = console_of(ctx)
    _check_choice(tool, "--all", values["all"], {}, console)
    box, releases = Toolbox.of_user(), _releases(ctx, console, values)
    names = [tool] if tool is not None else managed_tools(box)
    if not names:
        console.status("No tool is managed by commodore")
    _each(names, lambda name: uninstall_tool(name, box, releases), console)


def _check_choice(tool: str | None, option: str, given: bool, values: dict[str, Any], console: Console) -> None:
    """Exactly one of a tool and the option for all; options that need a tool or exclude each other."""
    if (tool is None) != given:
        both = "cannot be combined" if given else "are missing: one of them is needed"
        raise UsageError("CMD-CLI-025", f"TOOL and {option} {both}", hint=f"name one tool, or give {option}")
    if values.get("version") and values["latest"]:
        raise UsageError("CMD-CLI-025", "--version and --latest cannot be combined", hint="give one of them")
    if values.get("version") and tool is None:
        console.announce(Warned("CMD-CLI-010", f"--version has no effect with {option}", hint="name a tool"))


def _of_argocd(tool: str | None, values: dict[str, Any], console: Console) -> tuple[Toolbox, Choice]:
    """The folder for the tools of a version of Argo CD, and the version of the tool that it runs."""
    from commodore.argocd import choose_profile
    from commodore.base.diagnostics import Diagnostics
    from commodore.core.tools import Choice, named_version, profile_toolbox

    if tool is None or values["version"] or values["latest"]:
        raise UsageError(
            "CMD-CLI-025",
            "--argocd sets the version of one tool",
            hint="write commodore tool install helm --argocd 3.4",
        )
    diagnostics = Diagnostics()
    profile = choose_profile(values["argocd"], {}, diagnostics)
    for item in diagnostics.collected():
        console.announce(Warned(item.code, item.message, hint=item.hint))
    version = profile.tools.get(tool)
    return profile_toolbox(profile.name), Choice(named_version(version) if version else None)


def _choice(values: dict[str, Any], *, single: bool) -> Choice:
    from commodore.core.tools import Choice, named_version

    version = named_version(values["version"]) if values["version"] and single else None
    return Choice(version, values["latest"])


def _releases(ctx: click.Context, console: Console, values: dict[str, Any]) -> Releases:
    from commodore.core.tools import GITHUB_API, Releases

    return Releases(
        console.context,
        mirror=values.get("mirror") or "",
        token=values.get("github_token") or ctx.meta.get(_TOKEN) or "",
        api=values.get("github_url") or GITHUB_API,
        timeout=ctx.find_root().obj["request_timeout"],
    )


def _each(names: Sequence[str], act: Callable[[str], InstallOutcome], console: Console) -> None:
    """Do it for every tool, even if it fails for others; failures are reported at the end."""
    errors: list[CommodoreError] = []
    for name in names:
        try:
            with console.working():
                outcome = act(name)
        except CommodoreError as error:
            errors.append(error)
        else:
            _print_outcome(outcome, console)
    raise_all(errors)


def _print_outcome(outcome: InstallOutcome, console: Console) -> None:
    name, version = outcome.tool, outcome.version
    match outcome.action:
        case "installed":
            console.status(f"Installed {name} {version} as {outcome.path}")
        case "kept":
            console.status(f"{name} {version} is installed already, nothing to do: {outcome.path}")
        case "removed":
            console.status(f"Removed {outcome.path}")
        case "not needed":
            console.status(f"{name} is not needed: commodore installs Jsonnet libraries itself")


def _lines(status: ToolStatus, *, checked: bool) -> list[str]:
    if status.path is None:
        if not status.needed:
            return [click.style(f"{status.name}: not found, and not needed", bold=True)]
        missing = click.style(f"{status.name}: not found", fg="red", bold=True)
        return [missing, f"  install it: commodore tool install {status.name}"]
    version = printable_lines(status.version or "version unknown")
    old = click.style(f" (too old, at least {status.minimum} is needed)", fg="red") if status.too_old else ""
    lines = [
        click.style(f"{status.name} {version}", bold=True) + old,
        f"  location:  {printable_lines(str(status.path))}",
    ]
    if status.source == "kubectl":
        lines.append("  stand-in:  the kustomize that is built into kubectl")
    lines.append(f"  managed:   {'yes' if status.managed else 'no'}")
    if status.managed:
        lines.append(f"  installed: {printable_lines(status.installed or 'UNKNOWN')}")
    if status.needed:
        lines += [f"  known:     {status.known}", f"  latest:    {_latest(status, checked)}"]
    else:
        lines.append("  not needed: commodore installs Jsonnet libraries itself")
    return lines


def _latest(status: ToolStatus, checked: bool) -> str:
    if status.latest is None:
        return "unknown" if checked else "N/A"
    if status.upgrade is None:
        return f"{status.latest} (no upgrade needed)"
    hint = f": commodore tool upgrade {status.name} --latest" if status.managed else ""
    return click.style(f"{status.latest} (upgrade available{hint})", fg="yellow")
