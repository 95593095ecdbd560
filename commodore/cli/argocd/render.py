"""`commodore argocd render`: the objects of Applications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import printable
from commodore.cli.argocd.analysis import FAILED, Analysis
from commodore.cli.argocd.settings import ARGOCD_RENDER
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Rendering


@click.command("render")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_RENDER)
@click.pass_context
def render(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Render Applications and show their objects.

    APP is NAME or NAMESPACE/NAME, or a pattern of these; without it all Applications that `argocd apps` lists, or those
    in the files named by --app, are rendered. Sources in the repository of --path read its working tree, others the
    folders that --repo-map names, or are fetched into the cache.

    The YAML of each object has a comment with its Application, source and file. With --out the objects become files of
    a folder, which is replaced as a whole; it must be empty, or made by this command.

    Applications that cannot be rendered are errors; the others are shown nevertheless. If a source of an Application
    fails, the objects of its other sources are shown, marked as partial. Secrets are shown in plain text.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    with analysis.working():
        rendered = argocd.render(analysis.tree, analysis.options, apps, values["stage"])
    made = rendered.applications
    if values["out"] != "name" and any(
        _is_secret(rendered_object.data) for application in made for rendered_object in application.objects
    ):
        analysis.console.status("Secrets are shown in plain text; --skip-kind Secret omits them.")
    if values["folder"] is not None:
        count = rendered.write(values["folder"], values["layout"])
        analysis.console.status(f"{count} {'file' if count == 1 else 'files'} in {values['folder']}.")
    else:
        _show(rendered, values["out"], analysis.console)
    return max(
        analysis.finish(rendered.diagnostics),
        FAILED if any(application.error is not None for application in made) else 0,
    )


def _is_secret(data: Mapping[str, Any]) -> bool:
    return data.get("kind") == "Secret" and bool(data.get("data") or data.get("stringData"))


def _show(rendered: Rendering, form: str, console: Console) -> None:
    from commodore.base.kubernetes import key_of

    made = rendered.applications
    if form == "json":
        console.document("argocd-render", rendered)
    elif form == "name":
        for application in made:
            for rendered_object in application.objects:
                console.result(printable(str(key_of(rendered_object.data))))
    elif any(application.objects for application in made):
        console.data(rendered.stream(), newline=False)
