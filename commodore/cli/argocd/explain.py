"""`commodore argocd explain`: the origin, sources and objects of an Application."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from commodore.base.documents import ABSENT
from commodore.base.printable import printable
from commodore.cli.argocd.analysis import Analysis
from commodore.cli.argocd.settings import ARGOCD_EXPLAIN
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import ExplainedApplication, ExplainedObject, ExplainedValue


@click.command("explain")
@click.argument("app")
@click.argument("object_", metavar="[OBJECT]", default="")
@options(*ARGOCD_EXPLAIN)
@click.pass_context
def explain(ctx: click.Context, /, app: str, object_: str, **values: Any) -> int:
    """Explain an Application.

    What leads to it: a file, an ApplicationSet, another Application. Where each source comes from, of which type it is
    and what overrides it; the commands that give the same; which files of the repository it reads; its objects, each
    with its source and, where it is known, its file. APP is NAME or NAMESPACE/NAME.

    With OBJECT, as KIND/NAME or KIND/NAMESPACE/NAME, that object alone: what it was as its source gave it, with
    tracking, and as Argo CD compares it. With a JSON pointer after it, as in Deployment/web/spec/replicas, the value
    there. Secrets are masked.

    With --value, which layers set a value of its charts: their own files, value files, values and parameters of the
    source.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    with analysis.working():
        explained = argocd.explain(analysis.tree, app, analysis.options, object_, values["value"] or "")
    if values["out"] != "text":
        analysis.console.document("argocd-explain", explained, form=values["out"])
    else:
        analysis.console.result("\n".join(map(printable, _lines(explained.application))))
    return analysis.finish(explained.diagnostics)


def _object_lines(explained: ExplainedObject) -> Iterator[str]:
    name = "/".join(filter(None, (explained.kind, explained.namespace, explained.name)))
    place = f", {explained.origin}" if explained.origin else ""
    yield f"{name}{explained.pointer} (source {explained.source}{place})"
    for stage in explained.stages:
        if stage.changes is ABSENT:
            value = json.dumps(stage.value, ensure_ascii=False) if stage.present else "absent"
            yield f"  {stage.stage}: {value}"
        else:
            yield f"  {stage.stage}"
            yield from (f"    {change}" for change in stage.changes)


def _value_lines(explained: ExplainedValue) -> Iterator[str]:
    yield f"value {explained.path}"
    for layer in explained.layers:
        yield f"  {json.dumps(layer.value, ensure_ascii=False)} in {layer.place} (source {layer.source})"
    for made in explained.values:
        yield f"  so source {made.source} has {json.dumps(made.value, ensure_ascii=False)}"


def _lines(application: ExplainedApplication) -> Iterator[str]:
    yield application.name
    yield from (f"  {step}" for step in application.chain)
    destination = application.destination
    where = " ".join(filter(None, (destination.server, destination.name, destination.namespace)))
    yield f"  project {application.project}, destination {where}"
    for source in application.sources:
        what = source.chart or source.path or f"${source.ref}"
        yield f"source {source.index}: {' '.join(filter(None, (source.type, what)))}"
        yield f"  of {source.repo_url} at {source.target_revision or 'HEAD'}"
        yield f"  from {source.origin}"
        yield from (f"  overridden by {name}" for name in source.overrides)
    if application.commands:
        yield "commands"
        yield from (f"  {command}" for command in application.commands)
    if application.reads:
        yield "reads of the repository"
        yield from (f"  {path}" for path in application.reads)
    if application.value is not ABSENT:
        yield from _value_lines(application.value)
    if application.object is not ABSENT:
        yield from _object_lines(application.object)
    if (application.value, application.object) != (ABSENT, ABSENT):
        return
    yield f"objects: {len(application.objects)}"
    for rendered in application.objects:
        name = "/".join(filter(None, (rendered.namespace, rendered.name)))
        place = f", {rendered.origin}" if rendered.origin else ""
        yield f"  {rendered.kind} {name} (source {rendered.source}{place})"
