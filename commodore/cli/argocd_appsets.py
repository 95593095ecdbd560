"""`commodore argocd appsets`: the Applications that ApplicationSets make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._argocd import context_of, document, show_diagnostics
from commodore.cli._options import options
from commodore.cli.console import Console, console_of
from commodore.errors import UsageError
from commodore.printable import printable
from commodore.settings.argocd import ARGOCD_APPSETS

if TYPE_CHECKING:
    from commodore.argocd import Diagnostic
    from commodore.argocd.appsets import Generated


@click.command("appsets")
@options(*ARGOCD_APPSETS)
@click.pass_context
def appsets(ctx: click.Context, /, **values: Any) -> int:
    """Show the Applications that ApplicationSets make, and from which parameters.

    Git generators read the folders that --repo-map names, or what is fetched into the cache. What other generators
    would ask of forges and plugins comes from --facts. A generator that fails is an error; what the others make is
    shown all the same.
    """
    from commodore.argocd.acquiring import RepoMap, Repositories, parse_repo_map
    from commodore.argocd.appsets import Expander, read_facts, read_sets
    from commodore.argocd.configuration import read_settings
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.staging import temporary_folder

    console = console_of(ctx)
    context = context_of(console, offline=values["offline"])
    if not values["appset"]:
        raise UsageError(
            "CMD-ARGO-022", "no ApplicationSet is named", hint="name a file with ApplicationSets by --appset"
        )
    found = Diagnostics()
    settings = read_settings(values["argocd_settings"], context.limits, found)
    sets = read_sets(values["appset"], context.limits)
    facts = read_facts(values["facts"], context.limits)
    made: list[Generated] = []
    with temporary_folder() as scratch:
        repositories = Repositories(context, RepoMap(parse_repo_map(values["repo_map"])), scratch)
        try:
            expander = Expander(settings, repositories.tree, facts, context, found)
            for one in sets:
                made += expander.expand(one)
        finally:
            repositories.close()
    _show(made, values["out"], console, found.found(strict=values["strict"]))
    return show_diagnostics(found, values, console)


def _show(made: Sequence[Generated], form: str, console: Console, diagnostics: Sequence[Diagnostic]) -> None:
    from commodore.manifests.kube_yaml import write_documents

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
        console.result(json.dumps(document("appsets", diagnostics, applications=rows), indent=2))
    elif form == "yaml":
        if made:
            console.result(write_documents([one.data for one in made]), newline=False)
    else:
        for one in made:
            name = printable(f"{one.data['metadata']['namespace']}/{one.name}")
            console.result(name if form == "name" else f"{name}  {printable(one.set)}: {one.path}, set {one.number}")
