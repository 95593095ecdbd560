"""`commodore argocd render`: the objects of Applications."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._argocd import FAILED, Analysis, document
from commodore.cli._options import options
from commodore.cli.console import Console
from commodore.errors import CommodoreError
from commodore.printable import printable
from commodore.settings.argocd import ARGOCD_RENDER

if TYPE_CHECKING:
    from commodore.argocd.model.application import Application
    from commodore.argocd.rendering import Rendered

Shown = list[tuple["Application", "tuple[Rendered, ...]"]]


@click.command("render")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_RENDER)
@click.pass_context
def render(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Render Applications and show their objects.

    APP is NAME or NAMESPACE/NAME, or a pattern of these; without it all are rendered that `argocd apps` lists, or those
    in the files named by --app. Sources in the repository of --path read its folder as it lies, others the
    folders that --repo-map names, or are fetched into the cache.

    Applications that cannot be rendered are errors; the others are shown all the same.
    """
    from commodore.argocd.checking import Projects
    from commodore.argocd.finishing import desired, manifests

    analysis = Analysis.of(ctx, values)
    found = analysis.found
    listing = analysis.listing()
    settings = listing.settings
    wanted = analysis.selected(listing, apps)
    listing.tell_failures(found, but=wanted)
    shown: Shown = []
    kinds = analysis.question.kinds
    projects = Projects(settings, found)
    with analysis.open_run(listing) as run:
        for application, rendered in run.renderer.render_all(wanted, values["jobs"]):
            label = listing.label(application)
            if isinstance(rendered, CommodoreError):
                found.take(rendered, application=label)
                continue
            try:
                objects = manifests(application, rendered, settings, found)
                if values["stage"] == "desired":
                    objects = desired(application, objects, settings, values["cluster_scoped"], found)
                    projects.check(application, objects, found)
                shown.append((application, tuple(one for one in objects if kinds.fit(one.data))))
            except CommodoreError as error:
                found.take(error, application=label)
    _show(shown, values["out"], analysis.console, analysis.diagnostics())
    return max(analysis.finish(), FAILED if len(shown) < len(wanted) else 0)


def _show(shown: Shown, form: str, console: Console, diagnostics: Any) -> None:
    from commodore.manifests import key_of
    from commodore.manifests.kube_yaml import write_documents

    if form == "json":
        objects = [
            {"application": application.name, "source": one.source, "from": one.origin, "object": one.data}
            for application, several in shown
            for one in several
        ]
        console.result(json.dumps(document("render", diagnostics, objects=objects), indent=2))
    elif form == "name":
        for _, several in shown:
            for one in several:
                console.result(printable(str(key_of(one.data))))
    elif any(several for _, several in shown):
        console.result(write_documents([one.data for _, several in shown for one in several]), newline=False)
