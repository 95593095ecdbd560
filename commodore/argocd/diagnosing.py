"""Everything that can be found without comparing: all Applications rendered, and their ignore rules read."""

from __future__ import annotations

from commodore.argocd.acquiring import RepoMap
from commodore.argocd.diagnostics import Diagnostics
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.normalising import Normaliser
from commodore.argocd.normalising.server_side import tell_server_side
from commodore.argocd.rendering import Capabilities
from commodore.argocd.running import Listing, open_run
from commodore.context import Context
from commodore.errors import CommodoreError


def check_all(
    listing: Listing, repo_map: RepoMap, capabilities: Capabilities, context: Context, found: Diagnostics, jobs: int
) -> None:
    """Render all Applications and read their ignore rules; what does not work is told.

    Args:
        jobs: how many are rendered at the same time; 0 for one per usable CPU.
    """
    listing.tell_failures(found, but=listing.applications)
    with open_run(listing.settings, repo_map, capabilities, context, found, listing.own) as run:
        for application, rendered in run.renderer.render_all(listing.applications, jobs):
            try:
                if isinstance(rendered, CommodoreError):
                    raise rendered
                tracked = manifests(application, rendered, listing.settings, found)
                objects = desired(application, tracked, listing.settings, (), found)
                tell_server_side(application, (one.data for one in objects), listing.settings, found)
                with Normaliser(application, listing.settings, found):
                    pass
            except CommodoreError as error:
                found.take(error, application=listing.label(application))
