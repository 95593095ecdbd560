"""`commodore argocd version`: the version of Argo CD that is followed, and of the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import options_by, show_diagnostics
from commodore.cli.argocd.settings import ARGOCD_VERSION_COMMAND
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Installed


@click.command("version")
@options(*ARGOCD_VERSION_COMMAND)
@click.pass_context
def version(ctx: click.Context, /, **values: Any) -> int:
    """Show which version of Argo CD is followed, and the versions of the tools and languages that render.

    Tools whose versions differ from those of this version of Argo CD are marked. `commodore tool install NAME --argocd
    VERSION` installs one for that version, in addition to others.
    """
    from commodore import argocd

    console = console_of(ctx)
    shown = argocd.version(options_by({**values, "offline": False, "argocd_settings": ()}, console))
    if values["out"] != "text":
        console.document("argocd-version", shown, form=values["out"])
    else:
        console.result(f"commodore {shown.commodore}, follows Argo CD {shown.argocd}")
        for tool in shown.tools:
            console.result(printable(_line(tool)))
        for name, text in (*shown.libraries.items(), ("Python", shown.python)):
            console.result(f"{name} {text or 'is not installed'}")
    return show_diagnostics(shown.diagnostics, values["diagnostics"], console)


def _line(tool: Installed) -> str:
    if tool.path is None:
        return f"{tool.name} is not installed; Argo CD runs {tool.wanted}"
    differs = "" if tool.same else f"; Argo CD runs {tool.wanted}"
    return f"{tool.name} {tool.version or 'of an unknown version'} ({tool.path}){differs}"
