"""`commodore argocd diagnostics`: all diagnostics about a repository."""

from __future__ import annotations

from typing import Any

import click

from commodore.cli.argocd.analysis import EQUAL, FAILED, Analysis
from commodore.cli.argocd.settings import ARGOCD_DIAGNOSTICS
from commodore.cli.shell.diagnostics import diagnostic_lines
from commodore.cli.shell.options import options


@click.command("diagnostics")
@options(*ARGOCD_DIAGNOSTICS)
@click.pass_context
def diagnostics(ctx: click.Context, /, **values: Any) -> int:
    """List all diagnostics about a repository, including informative ones.

    With --show rendered all Applications are rendered and their ignore rules are checked, with --show plugins the ones
    that plugins render. Each finding has a code, which `commodore explain` describes. The exit code is 2 if one of them
    is an error.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, {**values, "events": "events" in values["show"]})
    console = analysis.console
    with analysis.working():
        read = argocd.diagnose(
            analysis.tree, analysis.options, rendered="rendered" in values["show"], plugins="plugins" in values["show"]
        )
    shown = read.diagnostics
    if values["out"] in ("json", "yaml"):
        console.document("argocd-diagnostics", read, form=values["out"])
    elif values["out"] == "sarif":
        console.data(read.sarif())
    elif not shown:
        console.result("nothing was found")
    else:
        for line in (line for diagnostic in shown for line in diagnostic_lines(diagnostic)):
            console.result(line)
    return FAILED if any(diagnostic.severity == "error" for diagnostic in shown) else EQUAL
