"""`commodore argocd settings`: the effective settings, and their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import Analysis
from commodore.cli.argocd.settings import ARGOCD_SETTINGS
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Settings


@click.command("settings")
@options(*ARGOCD_SETTINGS)
@click.pass_context
def settings(ctx: click.Context, /, **values: Any) -> int:
    """Show the settings of an installation: each with its value, its source, and what it overrides.

    They come from the given files, and from a repository: its files, the output of its Applications, and values of the
    Argo CD chart.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    with analysis.working():
        read = argocd.settings(analysis.tree, analysis.options)
    if values["out"] == "text":
        analysis.console.result(_text(read))
    else:
        analysis.console.document("argocd-settings", read, form=values["out"])
    return analysis.finish(read.diagnostics)


def _text(read: Settings) -> str:
    lines = [f"namespace: {printable(read.namespace)}"]
    for setting in read.settings:
        where = str(setting.place) if setting.place else "default"
        also = f", overrides {', '.join(map(str, setting.overridden))}" if setting.overridden else ""
        lines.append(
            f"{setting.config_map} {printable(setting.key)}: {printable(setting.value)!r} ({printable(where + also)})"
        )
    for known in read.repositories:
        name = f"{known.type} repository {known.name}".rstrip()
        lines.append(f"{printable(name)}: {printable(known.url)}{' ...' if known.template else ''}")
    lines += [f"cluster {printable(known.name)}: {printable(known.server)}" for known in read.clusters]
    return "\n".join(lines)
