"""Everything that can be found without comparing: all Applications rendered, and their ignore rules read."""

from __future__ import annotations

from commodore.argocd.checking.projects import Projects
from commodore.argocd.comparing import reads_of
from commodore.argocd.comparing.owners import files_read, generate_paths, missed_by
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application
from commodore.argocd.normalising import Normaliser
from commodore.argocd.normalising.server_side import report_server_side
from commodore.argocd.question import Question
from commodore.argocd.running import Listing
from commodore.base.diagnostics import Subject
from commodore.base.errors import CommodoreError


def check_all(listing: Listing, asked: Question, *, plugins: bool = False) -> None:
    """Render the Applications that count and read their ignore rules; what does not work is reported.

    Args:
        plugins: only Applications that a plugin renders, as far as their sources say so.
    """
    found = asked.found
    wanted = asked.selected(listing, ())
    if plugins:
        wanted = [one for one in wanted if any(source.plugin is not None for source in one.sources)]
    listing.report_failures(found, but=wanted)
    Projects(listing.settings, found)
    with asked.run(listing) as run:
        for application, rendered in run.renderer.render_all(wanted, asked.options.jobs):
            try:
                if isinstance(rendered, CommodoreError):
                    raise rendered
                tracked = manifests(application, rendered, listing.settings, found)
                objects = desired(application, tracked, listing.settings, (), found)
                report_server_side(application, (one.data for one in objects), listing.settings, found)
                with Normaliser(application, listing.settings, found):
                    pass
                _report_missed(application, listing, asked)
            except CommodoreError as error:
                found.take(error, Subject(application=listing.label(application)))


def _report_missed(application: Application, listing: Listing, asked: Question) -> None:
    """Report whether the annotation `manifest-generate-paths` misses files that an Application reads."""
    paths = generate_paths(application, listing.own)
    if not paths:
        return
    reads = reads_of(application, listing.settings, listing.own, asked.context.limits)
    files = files_read(reads, next(iter(listing.own.values())).root)
    if missed := missed_by(paths, files, listing.label(application), application):
        asked.found.add(missed)
