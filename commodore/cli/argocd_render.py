"""`commodore argocd render`: the objects of Applications."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._argocd import FAILED, context_of, document, named_by, show_diagnostics
from commodore.cli._options import options
from commodore.cli.console import Console, console_of
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
    from commodore.argocd.acquiring import RepoMap, parse_repo_map
    from commodore.argocd.checking import Projects
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.argocd.discovery import select
    from commodore.argocd.finishing import desired, manifests
    from commodore.argocd.rendering import Capabilities
    from commodore.argocd.running import list_applications, open_run

    console = console_of(ctx)
    context = context_of(console, offline=values["offline"], reuse=not values["no_reuse"])
    found = Diagnostics()
    repo_map = RepoMap(parse_repo_map(values["repo_map"]))
    capabilities = Capabilities(values["kube_version"] or "", values["api_version"])
    listing = list_applications(named_by(values, context), context, found, repo_map, capabilities)
    settings = listing.settings
    wanted = select(listing.applications, apps, controller=settings.namespace, project=values["project"] or "")
    listing.tell_failures(found, but=wanted)
    shown: Shown = []
    projects = Projects(settings, found)
    with open_run(settings, repo_map, capabilities, context, found, listing.own) as run:
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
                shown.append((application, objects))
            except CommodoreError as error:
                found.take(error, application=label)
    _show(shown, values["out"], console, found.found(strict=values["strict"]))
    return max(show_diagnostics(found, values, console), FAILED if len(shown) < len(wanted) else 0)


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
