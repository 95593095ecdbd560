"""`commodore argocd images`: the images of Applications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import in_markdown, printable, some_of
from commodore.cli.argocd.analysis import DIFFERENT, EQUAL, Analysis, compared_by
from commodore.cli.argocd.settings import ARGOCD_IMAGES
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Images, ImageUse

_SIGNS = {"": "", "added": "+ ", "removed": "- ", "changed": "~ "}


@click.command("images")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_IMAGES)
@click.pass_context
def images(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """List the images that Applications run, or with a base the images that differ.

    With --base or --base-path two trees are compared as `argocd diff` does, and the exit code is 1 if an image
    differs. APP is NAME or NAMESPACE/NAME, or a pattern of these.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    base, target = compared_by(values)
    with analysis.working():
        images = argocd.images(target, analysis.options, apps, base=base)
    _show(images, values["out"], analysis.console)
    code = analysis.finish(images.diagnostics)
    return DIFFERENT if code == EQUAL and base is not None and images.images else code


def _show(images: Images, form: str, console: Console) -> None:
    uses = images.images
    if form in ("json", "yaml"):
        console.document("argocd-images", images, form=form)
    elif form == "markdown":
        for line in _rows(uses):
            console.result(line)
    elif form == "name":
        for text in sorted({use.image.text for use in uses}):
            console.result(printable(text))
    else:
        for line in _lines(uses):
            console.result(line)


def _lines(uses: Iterable[ImageUse]) -> Iterator[str]:
    """Yield each image once, followed by the Applications that run it."""
    for text, applications in _by_image(uses):
        yield printable(text)
        yield printable(f"    in {some_of(applications)}")


def _rows(uses: Iterable[ImageUse]) -> Iterator[str]:
    """Yield the same as a Markdown table."""
    yield "| Image | Applications |"
    yield "|---|---|"
    for text, applications in _by_image(uses):
        yield f"| {in_markdown(printable(text))} | {in_markdown(printable(some_of(applications)))} |"


def _by_image(uses: Iterable[ImageUse]) -> list[tuple[str, list[str]]]:
    applications: dict[str, dict[str, None]] = {}
    for use in uses:
        before = f" (was {use.before.text})" if use.before is not None else ""
        applications.setdefault(f"{_SIGNS[use.change]}{use.image.text}{before}", {})[use.application] = None
    return [(text, list(applications[text])) for text in sorted(applications)]
