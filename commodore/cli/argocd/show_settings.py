"""`commodore argocd settings`: the settings that count, and where each comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import Analysis, document, show_document
from commodore.cli.argocd.settings import ARGOCD_SETTINGS
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Settings


@click.command("settings")
@options(*ARGOCD_SETTINGS)
@click.pass_context
def settings(ctx: click.Context, /, **values: Any) -> int:
    """Show the settings of an installation: each with its value, where it comes from, and what it overrides.

    Those of the files that are named, and those that a repository has in its files, in what its Applications render,
    and in values of the Argo CD chart.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    with analysis.working():
        read = argocd.settings(analysis.tree, analysis.options)
    if values["out"] == "text":
        analysis.console.result(_text(read))
    else:
        show_document(document("settings", read.diagnostics, **_data(read)), values["out"], analysis.console)
    return analysis.finish(read.diagnostics)


def _data(read: Settings) -> dict[str, Any]:
    rows = [
        {
            "configMap": one.config_map,
            "key": one.key,
            "value": one.value.value,
            "level": one.value.level,
            "place": str(one.value.place) if one.value.place else None,
            "overridden": [str(place) for place in one.value.overridden],
        }
        for one in read.values
    ]
    clusters = [
        {
            "name": one.name,
            "server": one.server,
            "project": one.project,
            "labels": dict(one.labels),
            "annotations": dict(one.annotations),
        }
        for one in read.clusters
    ]
    repositories = [
        {
            "url": known.url,
            "type": known.kind,
            "name": known.name,
            "project": known.project,
            "template": known.is_template,
            "enableOCI": known.enable_oci,
        }
        for known in read.repositories
    ]
    return {"namespace": read.namespace, "settings": rows, "clusters": clusters, "repositories": repositories}


def _text(read: Settings) -> str:
    lines = [f"namespace: {printable(read.namespace)}"]
    for one in read.values:
        value = one.value
        where = str(value.place) if value.place else "default"
        also = f", overrides {', '.join(map(str, value.overridden))}" if value.overridden else ""
        lines.append(f"{one.config_map} {printable(one.key)}: {printable(value.value)!r} ({printable(where + also)})")
    for known in read.repositories:
        name = f"{known.kind} repository {known.name}".rstrip()
        lines.append(f"{printable(name)}: {printable(known.url)}{' ...' if known.is_template else ''}")
    lines += [f"cluster {printable(known.name)}: {printable(known.server)}" for known in read.clusters]
    return "\n".join(lines)
