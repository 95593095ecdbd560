"""`commodore argocd settings`: the settings that count, and where each comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._argocd import Analysis, document, show_document
from commodore.cli._options import options
from commodore.printable import printable
from commodore.settings.argocd import ARGOCD_SETTINGS

if TYPE_CHECKING:
    from commodore.argocd import ArgoSettings


@click.command("settings")
@options(*ARGOCD_SETTINGS)
@click.pass_context
def settings(ctx: click.Context, /, **values: Any) -> int:
    """Show the settings of an installation: each with its value, where it comes from, and what it overrides.

    Those of the files that are named, and with --path those that a repository has in its files, in what its
    Applications render, and in values of the Argo CD chart.
    """
    analysis = Analysis.of(ctx, values)
    console = analysis.console
    looked_at = any(values[name] for name in ("path", "ref", "repo"))
    read = analysis.listing().settings if looked_at else _given(analysis)
    data = document("settings", analysis.diagnostics(), **_data(read))
    if values["out"] == "text":
        console.result(_text(read))
    else:
        show_document(data, values["out"], console)
    return analysis.finish()


def _given(analysis: Analysis) -> ArgoSettings:
    """The settings of the files that are named alone."""
    from commodore.argocd.configuration import choose_profile
    from commodore.argocd.diagnostics import Diagnostics

    named = analysis.question.named(Path())
    profile = choose_profile(named.version, {}, Diagnostics())
    return named.candidates(profile, analysis.context.limits, analysis.found).settings()


def _data(read: ArgoSettings) -> dict[str, Any]:
    rows = [
        {
            "configMap": name,
            "key": key,
            "value": one.value,
            "level": one.level,
            "place": str(one.place) if one.place else None,
            "overridden": [str(place) for place in one.overridden],
        }
        for name, key, one in read.rows()
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
    return {"namespace": read.namespace, "settings": rows, "clusters": clusters}


def _text(read: ArgoSettings) -> str:
    lines = [f"namespace: {printable(read.namespace)}"]
    for name, key, one in read.rows():
        where = str(one.place) if one.place else "default"
        also = f", overrides {', '.join(map(str, one.overridden))}" if one.overridden else ""
        lines.append(f"{name} {printable(key)}: {printable(one.value)!r} ({printable(where + also)})")
    lines += [f"cluster {printable(one.name)}: {printable(one.server)}" for one in read.clusters]
    return "\n".join(lines)
