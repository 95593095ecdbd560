"""`commodore argocd images`: which images Applications run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._argocd import DIFFERENT, EQUAL, Analysis, document, show_document, sought_by
from commodore.cli._options import options
from commodore.cli.console import Console
from commodore.printable import in_markdown, printable, some_of
from commodore.settings.argocd import ARGOCD_IMAGES

if TYPE_CHECKING:
    from commodore.argocd.comparing.images import Use

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
    analysis = Analysis.of(ctx, values)
    compared = bool(values["base"] or values["base_path"])
    uses = (_differing if compared else _listed)(apps, analysis)
    _show(uses, values["out"], analysis.console, document("images", analysis.diagnostics()))
    code = analysis.finish()
    return DIFFERENT if code == EQUAL and compared and uses else code


def _listed(apps: tuple[str, ...], analysis: Analysis) -> list[Use]:
    from commodore.argocd.comparing.images import uses_of
    from commodore.errors import CommodoreError

    listing = analysis.listing()
    wanted = analysis.selected(listing, apps)
    listing.tell_failures(analysis.found, but=wanted)
    uses: list[Use] = []
    places = analysis.question.image_places
    with analysis.open_run(listing) as run:
        for application, rendered in run.renderer.render_all(wanted, analysis.values["jobs"]):
            if isinstance(rendered, CommodoreError):
                analysis.found.take(rendered, application=listing.label(application))
            else:
                counted = (one.data for one in rendered if analysis.question.counts(one.data))
                uses += uses_of(listing.label(application), counted, places)
    return uses


def _differing(apps: tuple[str, ...], analysis: Analysis) -> list[Use]:
    from commodore.argocd.comparing import find_sides
    from commodore.argocd.comparing.images import changed_uses

    with analysis.working("comparing"):
        sides = find_sides(sought_by(analysis), analysis.question.scratch, analysis.context)
        return list(changed_uses(analysis.question.compare(sides, apps), analysis.question.image_places))


def _show(uses: Sequence[Use], form: str, console: Console, data: dict[str, Any]) -> None:
    if form in ("json", "yaml"):
        diagnostics = {key: data.pop(key) for key in ("diagnostics", "partial")}
        show_document({**data, "images": [one.as_dict() for one in uses], **diagnostics}, form, console)
    elif form == "markdown":
        for line in _rows(uses):
            console.result(line)
    elif form == "name":
        for text in sorted({one.image.text for one in uses}):
            console.result(printable(text))
    else:
        for line in _lines(uses):
            console.result(line)


def _lines(uses: Iterable[Use]) -> Iterator[str]:
    """Each image once, below it the Applications that run it."""
    for text, applications in _by_image(uses):
        yield printable(text)
        yield printable(f"    in {some_of(applications)}")


def _rows(uses: Iterable[Use]) -> Iterator[str]:
    """The same as a table of Markdown."""
    yield "| Image | Applications |"
    yield "|---|---|"
    for text, applications in _by_image(uses):
        yield f"| {in_markdown(printable(text))} | {in_markdown(printable(some_of(applications)))} |"


def _by_image(uses: Iterable[Use]) -> list[tuple[str, list[str]]]:
    found: dict[str, dict[str, None]] = {}
    for one in uses:
        before = f" (was {one.before.text})" if one.before is not None else ""
        found.setdefault(f"{_SIGNS[one.change]}{one.image.text}{before}", {})[one.application] = None
    return [(text, list(found[text])) for text in sorted(found)]
