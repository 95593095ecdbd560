"""`commodore argocd apps`: list Applications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import Analysis
from commodore.cli.argocd.settings import ARGOCD_APPS
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import ListedApplication


@click.command("apps")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_APPS)
@click.pass_context
def apps(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """List the Applications that a folder defines.

    APP is NAME or NAMESPACE/NAME, or a pattern of these. Applications are defined in files, made by ApplicationSets,
    and contained in the output of other Applications of the repository, which are rendered for this purpose unless
    `discovery` is static.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    console = analysis.console
    with analysis.working():
        listing = argocd.list_applications(analysis.tree, analysis.options, apps)
    if values["out"] in ("json", "yaml"):
        console.document("argocd-apps", listing, form=values["out"])
    elif values["out"] == "name":
        for application in listing.applications:
            console.result(printable(f"{application.namespace}/{application.name}"))
    elif listing.applications:
        console.result(_table(listing.applications))
    return analysis.finish(listing.diagnostics)


def _table(applications: Sequence[ListedApplication]) -> str:
    from commodore.argocd import IN_CLUSTER, IN_CLUSTER_SERVER

    lines = [("NAME", "PROJECT", "DESTINATION", "SOURCES", "DEFINED IN")]
    for each in applications:
        destination, origin = each.destination, each.origin
        server = IN_CLUSTER if destination.server == IN_CLUSTER_SERVER else destination.server
        where = f"{destination.name or server} {destination.namespace}".strip()
        sources = ", ".join(source.chart or source.path or f"${source.ref}" for source in each.sources)
        by = {"file": "", "set": f" by set {origin.set}", "rendered": f" by {origin.parent or 'entry'}"}
        line = f":{origin.line}" if origin.line else ""
        place = f"{origin.file}{line}{by[origin.kind]}"
        cells = (f"{each.namespace}/{each.name}", each.project, where, sources, place)
        lines.append(tuple(map(printable, cells)))  # type: ignore[arg-type]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
