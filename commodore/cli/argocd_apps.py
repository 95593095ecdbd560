"""`commodore argocd apps`: which Applications there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._argocd import context_of, document, named_by, show_diagnostics
from commodore.cli._options import options
from commodore.cli.console import console_of
from commodore.printable import printable
from commodore.settings.argocd import ARGOCD_APPS

if TYPE_CHECKING:
    from commodore.argocd.model.application import Application
    from commodore.argocd.running import Listing


@click.command("apps")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_APPS)
@click.pass_context
def apps(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """List the Applications that a folder defines.

    APP is NAME or NAMESPACE/NAME, or a pattern of these. Applications are defined in files, made by ApplicationSets,
    and contained in what other Applications of the repository render, which are rendered for it unless --discovery is
    static.
    """
    from commodore.argocd.acquiring import RepoMap, parse_repo_map
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.argocd.discovery import select
    from commodore.argocd.rendering import Capabilities
    from commodore.argocd.running import list_applications, tell_unused
    from commodore.manifests.kube_yaml import write_documents

    console = console_of(ctx)
    context = context_of(console, offline=values["offline"], reuse=not values["no_reuse"])
    found = Diagnostics()
    repo_map = RepoMap(parse_repo_map(values["repo_map"]))
    capabilities = Capabilities(values["kube_version"] or "", values["api_version"])
    listing = list_applications(named_by(values, context), context, found, repo_map, capabilities)
    listing.tell_failures(found)
    tell_unused(repo_map, found)
    controller = listing.settings.namespace
    wanted = select(listing.applications, apps, controller=controller, project=values["project"] or "")
    rows = [_row(one, listing) for one in wanted]
    data = document("apps", found.found(strict=values["strict"]), applications=rows)
    if values["out"] == "json":
        console.result(json.dumps(data, indent=2))
    elif values["out"] == "yaml":
        console.result(write_documents([data]), newline=False)
    elif values["out"] == "name":
        for row in rows:
            console.result(printable(f"{row['namespace']}/{row['name']}"))
    elif rows:
        console.result(_table(rows))
    return show_diagnostics(found, values, console)


def _row(application: Application, listing: Listing) -> dict[str, Any]:
    destination = application.destination
    origin = listing.origins[listing.label(application)]
    settings = listing.settings
    return {
        "name": application.name,
        "namespace": application.namespace or settings.namespace,
        "instance": settings.instance_name(application.namespace, application.name),
        "project": application.project,
        "destination": {
            "server": destination.server,
            "name": destination.name,
            "namespace": destination.namespace,
        },
        "labels": dict(application.labels),
        "sources": [
            {
                "index": number,
                "repoURL": _redacted(one.repo_url),
                "path": one.path,
                "chart": one.chart,
                "targetRevision": one.revision,
                "ref": one.ref,
            }
            for number, one in enumerate(application.sources, 1)
        ],
        "origin": {
            "kind": origin.kind,
            "file": application.place.place,
            "line": application.place.line,
            "set": origin.set,
            "generator": origin.generator,
            "parent": origin.parent,
        },
    }


def _redacted(url: str) -> str:
    from commodore.git import redact

    return redact(url)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [("NAME", "PROJECT", "DESTINATION", "SOURCES", "DEFINED IN")]
    for row in rows:
        destination = row["destination"]
        where = f"{destination['name'] or destination['server']} {destination['namespace']}".strip()
        sources = ", ".join(one["chart"] or one["path"] or f"${one['ref']}" for one in row["sources"])
        origin = row["origin"]
        by = {"file": "", "set": f" by set {origin['set']}", "rendered": f" by {origin['parent'] or 'entry'}"}
        place = f"{origin['file']}:{origin['line']}{by[origin['kind']]}"
        cells = (f"{row['namespace']}/{row['name']}", row["project"], where, sources, place)
        lines.append(tuple(map(printable, cells)))  # type: ignore[arg-type]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
