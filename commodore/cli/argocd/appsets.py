"""`commodore argocd appsets`: the Applications that ApplicationSets make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import EQUAL, Analysis, document, write_file
from commodore.cli.argocd.settings import ARGOCD_APPSETS
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Diagnostic
    from commodore.argocd.appsets import Generated


@click.command("appsets")
@click.argument("sets", nargs=-1, metavar="[SET]...")
@options(*ARGOCD_APPSETS)
@click.pass_context
def appsets(ctx: click.Context, /, sets: tuple[str, ...], **values: Any) -> int:
    """Show the Applications that ApplicationSets make, and from which parameters.

    SET is NAME or NAMESPACE/NAME, or a pattern of these; without it all that the folder --path defines, or those in the
    files named by --appset. Git generators read the folder, the folders that --repo-map names, or what is fetched into
    the cache. What other generators would request from forges and plugins comes from --facts; --write-facts writes such
    a file, to be filled in. A generator that fails is an error; what the others make is shown all the same.
    """
    from commodore.argocd.appsets import needed_facts
    from commodore.argocd.expanding import expand_sets
    from commodore.base.yaml import dump

    analysis = Analysis.of(ctx, values)
    with analysis.question() as asked:
        found = expand_sets(asked, analysis.tree, sets)
        told = asked.told()
    if values["write_facts"] is not None:
        write_file(values["write_facts"], dump(needed_facts(found.sets)))
        analysis.console.status(f"What the generators request is in {values['write_facts']}.")
        return EQUAL
    _show(found.made, values["out"], analysis.console, told)
    return analysis.finish(told)


def _show(made: Sequence[Generated], form: str, console: Console, diagnostics: Sequence[Diagnostic]) -> None:
    from commodore.base.yaml.kube_yaml import write_documents

    if form == "json":
        rows = [
            {
                "set": one.set,
                "generator": one.path,
                "element": one.number,
                "parameters": one.params,
                "application": one.data,
            }
            for one in made
        ]
        console.data(json.dumps(document("appsets", diagnostics, applications=rows), indent=2))
    elif form == "yaml":
        if made:
            console.data(write_documents([one.data for one in made]), newline=False)
    else:
        for one in made:
            name = printable(f"{one.data['metadata']['namespace']}/{one.name}")
            console.result(name if form == "name" else f"{name}  {printable(one.set)}: {one.path}, set {one.number}")
