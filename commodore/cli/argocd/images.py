"""`commodore argocd images`: which images Applications run."""

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
    """List the images that Applications run, or with a base those that differ.

    With --base or --base-path two trees are compared as `argocd diff` does, and the exit code is 1 if an image
    differs. APP is NAME or NAMESPACE/NAME, or a pattern of these.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    base, target = compared_by(values)
    with analysis.working():
        found = argocd.images(target, analysis.options, apps, base=base)
    _show(found, values["out"], analysis.console)
    code = analysis.finish(found.diagnostics)
    return DIFFERENT if code == EQUAL and base is not None and found.images else code


def _show(found: Images, form: str, console: Console) -> None:
    uses = found.images
    if form in ("json", "yaml"):
        console.document("argocd-images", found, form=form)
    elif form == "markdown":
        for line in _rows(uses):
            console.result(line)
    elif form == "name":
        for text in sorted({one.image.text for one in uses}):
            console.result(printable(text))
    else:
        for line in _lines(uses):
            console.result(line)


def _lines(uses: Iterable[ImageUse]) -> Iterator[str]:
    """Each image once, below it the Applications that run it."""
    for text, applications in _by_image(uses):
        yield printable(text)
        yield printable(f"    in {some_of(applications)}")


def _rows(uses: Iterable[ImageUse]) -> Iterator[str]:
    """The same as a table of Markdown."""
    yield "| Image | Applications |"
    yield "|---|---|"
    for text, applications in _by_image(uses):
        yield f"| {in_markdown(printable(text))} | {in_markdown(printable(some_of(applications)))} |"


def _by_image(uses: Iterable[ImageUse]) -> list[tuple[str, list[str]]]:
    found: dict[str, dict[str, None]] = {}
    for one in uses:
        before = f" (was {one.before.text})" if one.before is not None else ""
        found.setdefault(f"{_SIGNS[one.change]}{one.image.text}{before}", {})[one.application] = None
    return [(text, list(found[text])) for text in sorted(found)]
