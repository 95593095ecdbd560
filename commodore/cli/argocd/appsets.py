"""`commodore argocd appsets`: the Applications that ApplicationSets generate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import EQUAL, Analysis, write_file
from commodore.cli.argocd.settings import ARGOCD_APPSETS
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Expansions


@click.command("appsets")
@click.argument("sets", nargs=-1, metavar="[SET]...")
@options(*ARGOCD_APPSETS)
@click.pass_context
def appsets(ctx: click.Context, /, sets: tuple[str, ...], **values: Any) -> int:
    """Show the Applications that ApplicationSets generate, and their parameters.

    SET is NAME or NAMESPACE/NAME, or a pattern of these; without it all that the folder --path defines, or those in the
    files named by --appset. Git generators read the folder, the folders that --repo-map names, or repositories that are
    fetched into the cache. Results of other generators, which request them from forges and plugins, come from --facts;
    --write-facts writes such a file, to be filled in. A generator that fails is an error; Applications of the others
    are shown nevertheless.
    """
    from commodore import argocd
    from commodore.base.yaml import dump

    analysis = Analysis.of(ctx, values)
    with analysis.working():
        expanded = argocd.expand(analysis.tree, analysis.options, sets)
    if values["write_facts"] is not None:
        write_file(values["write_facts"], dump(expanded.needed_facts()))
        analysis.console.status(f"Wrote the requests of the generators to {values['write_facts']}.")
        return EQUAL
    _show(expanded, values["out"], analysis.console)
    return analysis.finish(expanded.diagnostics)


def _show(expanded: Expansions, form: str, console: Console) -> None:
    from commodore.base.yaml.kube_yaml import write_documents

    if form == "json":
        console.document("argocd-appsets", expanded)
    elif form == "yaml":
        if expanded.applications:
            console.data(
                write_documents([application.application for application in expanded.applications]), newline=False
            )
    else:
        for application in expanded.applications:
            metadata = application.application["metadata"]
            name = printable(f"{metadata['namespace']}/{metadata['name']}")
            origin = (
                f"{printable(application.set.rpartition('/')[2])}: {application.generator}, set {application.element}"
            )
            console.result(name if form == "name" else f"{name}  {origin}")
