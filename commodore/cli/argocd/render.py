"""`commodore argocd render`: the objects of Applications."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import FAILED, Analysis, document
from commodore.cli.argocd.settings import ARGOCD_RENDER
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd.layout import Layout
    from commodore.argocd.rendered import RenderedApplication
    from commodore.argocd.trees import Tree


@click.command("render")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_RENDER)
@click.pass_context
def render(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Render Applications and show their objects.

    APP is NAME or NAMESPACE/NAME, or a pattern of these; without it all are rendered that `argocd apps` lists, or those
    in the files named by --app. Sources in the repository of --path read its working tree, others the
    folders that --repo-map names, or are fetched into the cache.

    The YAML of each object has a comment with its Application, source and file. With --out the objects become files of
    a folder, which is replaced as a whole; it must be empty, or made by this command.

    Applications that cannot be rendered are errors; the others are shown all the same. Of an Application of which one
    source fails, the objects of its other sources are shown, marked as partial. Secrets are shown as they are.
    """
    from commodore.argocd.rendered import render_applications

    analysis = Analysis.of(ctx, values)
    with analysis.question() as asked:
        listing = asked.listing(analysis.tree, apps)
        wanted = asked.selected(listing, apps)
        with asked.run(listing) as run:
            made = list(render_applications(asked, listing, wanted, run, values["stage"]))
        found = asked.rendered(listing, wanted)
        own = listing.own
    if values["out"] != "name" and any(_is_secret(one.data) for application in made for one in application.objects):
        analysis.console.status("Secrets are shown as they are; --skip-secrets leaves them out.")
    if values["folder"] is not None:
        _write(made, values["folder"], values["layout"], own, analysis.console)
    else:
        _show(made, values["out"], analysis.console, found)
    return max(analysis.finish(found), FAILED if any(one.error is not None for one in made) else 0)


def _is_secret(data: Mapping[str, Any]) -> bool:
    return data.get("kind") == "Secret" and bool(data.get("data") or data.get("stringData"))


def _write(
    made: Sequence[RenderedApplication], folder: Path, layout: Layout, own: Mapping[str, Tree], console: Console
) -> None:
    from commodore.argocd.layout import write_layout

    count = write_layout(made, folder, layout, own)
    console.status(f"{count} {'file' if count == 1 else 'files'} in {folder}.")


def _show(made: Sequence[RenderedApplication], form: str, console: Console, diagnostics: Any) -> None:
    from commodore.argocd.finishing.hooks import hook_phases
    from commodore.argocd.layout import stream
    from commodore.base.kubernetes import key_of

    if form == "json":
        objects = [
            {
                "application": application.name,
                "source": one.source,
                "from": one.origin,
                "partial": application.partial,
                "hook": hook_phases(one.data),
                "identity": key_of(one.data)._asdict(),
                "object": one.data,
            }
            for application in made
            for one in application.objects
        ]
        console.data(json.dumps(document("render", diagnostics, objects=objects), indent=2))
    elif form == "name":
        for application in made:
            for one in application.objects:
                console.result(printable(str(key_of(one.data))))
    elif any(application.objects for application in made):
        console.data(stream(made), newline=False)
