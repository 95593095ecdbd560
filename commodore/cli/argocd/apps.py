"""`commodore argocd apps`: which Applications there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import Analysis, document
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
    and contained in what other Applications of the repository render, which are rendered for it unless `discovery` is
    static.
    """
    from commodore import argocd
    from commodore.base.yaml.kube_yaml import write_documents

    analysis = Analysis.of(ctx, values)
    console = analysis.console
    with analysis.working():
        listing = argocd.list_applications(analysis.tree, analysis.options, apps)
    rows = [_row(one) for one in listing.applications]
    data = document("apps", listing.diagnostics, applications=rows)
    if values["out"] == "json":
        console.data(json.dumps(data, indent=2))
    elif values["out"] == "yaml":
        console.data(write_documents([data]), newline=False)
    elif values["out"] == "name":
        for row in rows:
            console.result(printable(f"{row['namespace']}/{row['name']}"))
    elif rows:
        console.result(_table(rows))
    return analysis.finish(listing.diagnostics)


def _row(one: ListedApplication) -> dict[str, Any]:
    origin, place = one.provenance.origin, one.provenance.place
    return {
        "name": one.name,
        "namespace": one.namespace,
        "instance": one.instance,
        "project": one.project,
        "destination": asdict(one.destination),
        "labels": dict(one.labels),
        "sources": [
            {
                "index": number,
                "repoURL": source.url,
                "path": source.path,
                "chart": source.chart,
                "targetRevision": source.revision,
                "ref": source.ref,
            }
            for number, source in enumerate(one.sources, 1)
        ],
        "origin": {
            "kind": origin.kind,
            "file": place.place,
            "line": place.line,
            "set": origin.set,
            "generator": origin.generator,
            "parent": origin.parent,
        },
    }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    from commodore.argocd import IN_CLUSTER, IN_CLUSTER_SERVER

    lines = [("NAME", "PROJECT", "DESTINATION", "SOURCES", "DEFINED IN")]
    for row in rows:
        destination = row["destination"]
        server = IN_CLUSTER if destination["server"] == IN_CLUSTER_SERVER else destination["server"]
        where = f"{destination['name'] or server} {destination['namespace']}".strip()
        sources = ", ".join(one["chart"] or one["path"] or f"${one['ref']}" for one in row["sources"])
        origin = row["origin"]
        by = {"file": "", "set": f" by set {origin['set']}", "rendered": f" by {origin['parent'] or 'entry'}"}
        line = f":{origin['line']}" if origin["line"] else ""
        place = f"{origin['file']}{line}{by[origin['kind']]}"
        cells = (f"{row['namespace']}/{row['name']}", row["project"], where, sources, place)
        lines.append(tuple(map(printable, cells)))  # type: ignore[arg-type]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
