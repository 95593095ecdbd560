"""The images of Applications as git renders them, for `observe plan`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError, UsageError
from commodore.cli.argocd.analysis import options_by
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.argocd import Diagnostics
    from commodore.argocd.model.application import Application
    from commodore.argocd.running import Listing
    from commodore.observe import RenderedImages


def checked_source(values: Mapping[str, Any]) -> None:
    """Refuse options that do not fit each other.

    Raises:
        UsageError: CMD-OBS-030, a repository is missing or given for nothing, or what is not synced is to count.
    """
    if (values["images_from"] == "rendered") != (values["repository"] is not None):
        raise UsageError(
            "CMD-OBS-030",
            "--images-from rendered and --repository belong together",
            hint="name the folder with the Applications, or leave both out",
        )
    if values["images_from"] == "rendered" and values["unsynced"]:
        raise UsageError(
            "CMD-OBS-030",
            "--unsynced and --images-from rendered do not go together",
            hint="leave --unsynced out: what git renders runs only once it is synced",
        )


def rendered_images(console: Console, wanted: Collection[str], values: Mapping[str, Any]) -> dict[str, RenderedImages]:
    """What a commit renders of Applications, by their `namespace/name`; those that it does not define are left out.

    Raises:
        CommodoreError: the repository, the revision or a file that is named cannot be read.
    """
    from commodore.argocd.diagnostics import STRICT
    from commodore.argocd.options import Tree
    from commodore.argocd.question import Question
    from commodore.base.diagnostics import Diagnostics

    images = {}
    with Question(options_by({**values, "self_revisions": "all"}, console)) as asked:
        side = asked.side(Tree(values["repository"], values["ref"]))
        listing = asked.listing_of(side.named)
        chosen = [one for one in listing.applications if listing.label(one) in wanted]
        if len(chosen) < len(wanted):
            listing.report_failures(asked.found, but=chosen)  # one of those may define what is missing
        collected = Diagnostics(STRICT)
        with asked.run(listing, collected) as run:
            for application, result in run.renderer.render_all(chosen, 0):
                images[listing.label(application)] = _images(listing, application, result, side.commit, collected)
    console.diagnostics(asked.found.found())
    return images


def _images(
    listing: Listing, application: Application, result: Any, commit: str, collected: Diagnostics
) -> RenderedImages:
    from commodore.argocd.acquiring import repository_identity
    from commodore.argocd.comparing.images import uses_of
    from commodore.observe import RenderedImages

    label = listing.label(application)
    if isinstance(result, CommodoreError):
        return RenderedImages(problem=result.message)
    doubts = [one.message for one in collected.found() if one.subject.application == label and one.severity == "error"]
    if doubts:
        return RenderedImages(problem="; ".join(doubts))
    return RenderedImages(
        images=tuple(use.image.text for use in uses_of(label, (one.data for one in result))),
        revisions=tuple(
            commit if repository_identity(one.repo_url) in listing.own else one.revision for one in application.sources
        ),
    )
