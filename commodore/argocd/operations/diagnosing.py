"""Diagnosing without comparing: render all Applications, and read their ignore rules."""

from __future__ import annotations

from commodore.argocd.checking.projects import Projects
from commodore.argocd.comparing import reads_of
from commodore.argocd.comparing.owners import files_read, generate_paths, missed_by
from commodore.argocd.discovery import Listing
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application
from commodore.argocd.normalising import Normaliser
from commodore.argocd.normalising.server_side import report_server_side
from commodore.argocd.operations.session import Selection, Session, rendering
from commodore.base.diagnostics import Subject
from commodore.base.errors import CommodoreError


def check_all(session: Session, chosen: Selection, *, plugins: bool = False) -> None:
    """Render the selected Applications and read their ignore rules; errors are reported.

    Args:
        plugins: only Applications whose sources name a plugin.
    """
    listing, diagnostics = chosen.listing, session.diagnostics
    applications = chosen.applications
    if plugins:
        applications = tuple(
            application
            for application in applications
            if any(source.plugin is not None for source in application.sources)
        )
    listing.report_failures(diagnostics, exclude=applications)
    Projects(listing.settings, diagnostics)
    with rendering(session, listing) as opened:
        for application, rendered in opened.renderer.render_all(applications, session.options.execution.jobs):
            try:
                if isinstance(rendered, CommodoreError):
                    raise rendered
                tracked = manifests(application, rendered, listing.settings, diagnostics)
                objects = desired(application, tracked, listing.settings, (), diagnostics)
                report_server_side(
                    application, (rendered_object.data for rendered_object in objects), listing.settings, diagnostics
                )
                with Normaliser(application, listing.settings, diagnostics):
                    pass
                _report_missed(application, listing, session)
            except CommodoreError as error:
                diagnostics.take(error, Subject(application=listing.label(application)))


def _report_missed(application: Application, listing: Listing, session: Session) -> None:
    """Report files that an Application reads and its annotation `manifest-generate-paths` lacks."""
    paths = generate_paths(application, listing.own)
    if not paths:
        return
    reads = reads_of(application, listing.settings, listing.own, session.context.limits)
    files = files_read(reads, next(iter(listing.own.values())).root)
    if missed := missed_by(paths, files, listing.label(application), application):
        session.diagnostics.add(missed)
