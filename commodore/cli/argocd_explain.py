"""`commodore argocd explain`: why an Application is there, and what it is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from commodore.cli._argocd import FAILED, Analysis, document, show_document
from commodore.cli._options import options
from commodore.errors import UsageError
from commodore.printable import printable
from commodore.settings.argocd import ARGOCD_EXPLAIN


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
    """
    from commodore.argocd.explaining import explain as explained_of
    from commodore.argocd.explaining_objects import explain_object

    analysis = Analysis.of(ctx, values)
    console, found = analysis.console, analysis.found
    listing = analysis.listing()
    wanted = analysis.selected(listing, (app,))
    if len(wanted) != 1:
        raise UsageError("CMD-ARGO-026", f"{app!r} fits {len(wanted)} Applications", hint="name one, as NAMESPACE/NAME")
    with analysis.open_run(listing) as run:
        result = explained_of(wanted[0], listing, analysis.question.repo_map, run, analysis.context, found)
    if result.error is not None:
        found.take(result.error, application=result.data["name"])
    elif object_:
        result.data["object"] = explain_object(result.stages, object_)
    if values["out"] != "text":
        show_document(document("explain", analysis.diagnostics(), application=result.data), values["out"], console)
    else:
        console.result("\n".join(map(printable, _lines(result.data))))
    return max(analysis.finish(), FAILED if result.error is not None else 0)


def _object_lines(one: dict[str, Any]) -> Iterator[str]:
    name = "/".join(filter(None, (one["kind"], one["namespace"], one["name"])))
    place = f", {one['from']}" if one["from"] else ""
    yield f"{name}{one['pointer']} (source {one['source']}{place})"
    for stage in one["stages"]:
        if one["pointer"]:
            value = json.dumps(stage["value"], ensure_ascii=False) if stage["present"] else "absent"
            yield f"  {stage['stage']}: {value}"
        else:
            yield f"  {stage['stage']}"
            yield from (f"    {change}" for change in stage["changes"])


def _lines(data: dict[str, Any]) -> Iterator[str]:
    yield data["name"]
    yield from (f"  {step}" for step in data["chain"])
    destination = data["destination"]
    where = " ".join(filter(None, (destination["server"], destination["name"], destination["namespace"])))
    yield f"  project {data['project']}, destination {where}"
    for one in data["sources"]:
        what = one["chart"] or one["path"] or f"${one['ref']}"
        yield f"source {one['index']}: {' '.join(filter(None, (one['type'], what)))}"
        yield f"  of {one['repoURL']} at {one['targetRevision'] or 'HEAD'}"
        yield f"  from {one['from']}"
        yield from (f"  overridden by {name}" for name in one["overrides"])
    if data["commands"]:
        yield "commands"
        yield from (f"  {command}" for command in data["commands"])
    if data["reads"]:
        yield "reads of the repository"
        yield from (f"  {path}" for path in data["reads"])
    if "object" in data:
        yield from _object_lines(data["object"])
        return
    yield f"objects: {len(data['objects'])}"
    for one in data["objects"]:
        name = "/".join(filter(None, (one["namespace"], one["name"])))
        place = f", {one['from']}" if one["from"] else ""
        yield f"  {one['kind']} {name} (source {one['source']}{place})"
