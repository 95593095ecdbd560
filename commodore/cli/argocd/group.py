"""`commodore argocd`: show what Argo CD would deploy, from files alone."""

from __future__ import annotations

import click

from commodore.cli.argocd.analysis import ArgoGroup
from commodore.cli.shell.lazy import LazyCommand
from commodore.cli.shell.options import options


@click.group(
    "argocd",
    cls=ArgoGroup,
    lazy={
        "apps": LazyCommand("commodore.cli.argocd.apps:apps", "List Applications."),
        "diagnostics": LazyCommand("commodore.cli.argocd.diagnostics:diagnostics", "List all diagnostics."),
        "explain": LazyCommand("commodore.cli.argocd.explain:explain", "Explain an Application."),
        "images": LazyCommand("commodore.cli.argocd.images:images", "List the images of Applications."),
        "diff": LazyCommand("commodore.cli.argocd.diff:diff", "Show the effect of a change on deployments."),
        "normalize": LazyCommand("commodore.cli.argocd.normalize:normalize", "Show objects as they are compared."),
        "plugins": LazyCommand("commodore.cli.argocd.plugins:plugins", "Check policies for plugins."),
        "appsets": LazyCommand("commodore.cli.argocd.appsets:appsets", "Show the Applications of ApplicationSets."),
        "render": LazyCommand("commodore.cli.argocd.render:render", "Show the objects of Applications."),
        "settings": LazyCommand("commodore.cli.argocd.show_settings:settings", "Show the settings of an installation."),
        "version": LazyCommand("commodore.cli.argocd.version:version", "Show the versions of Argo CD and its tools."),
        "test": LazyCommand("commodore.cli.argocd.test:test", "Test whether Applications render and are allowed."),
    },
)
@options()
def argocd() -> None:
    """Show what Argo CD would deploy, from files alone.

    No cluster and no Argo CD is contacted. Exit codes are those of diff: 0 for success, 1 if there is a
    difference, 2 if anything failed.
    """
