"""`commodore argocd`: what Argo CD would deploy, from files alone."""

from __future__ import annotations

import click

from commodore.cli._argocd import ArgoGroup
from commodore.cli._lazy import LazyCommand
from commodore.cli._options import options


@click.group(
    "argocd",
    cls=ArgoGroup,
    lazy={
        "apps": LazyCommand("commodore.cli.argocd_apps:apps", "List Applications."),
        "diagnostics": LazyCommand("commodore.cli.argocd_diagnostics:diagnostics", "List all that is found."),
        "explain": LazyCommand("commodore.cli.argocd_explain:explain", "Explain an Application."),
        "images": LazyCommand("commodore.cli.argocd_images:images", "List the images of Applications."),
        "diff": LazyCommand("commodore.cli.argocd_diff:diff", "Show what a change changes in what is deployed."),
        "normalize": LazyCommand("commodore.cli.argocd_normalize:normalize", "Show objects as they are compared."),
        "plugins": LazyCommand("commodore.cli.argocd_plugins:plugins", "Look at plugins."),
        "appsets": LazyCommand("commodore.cli.argocd_appsets:appsets", "Show what ApplicationSets make."),
        "render": LazyCommand("commodore.cli.argocd_render:render", "Show the objects of Applications."),
        "settings": LazyCommand("commodore.cli.argocd_settings:settings", "Show the settings of an installation."),
        "version": LazyCommand("commodore.cli.argocd_version:version", "Show the versions that count."),
        "test": LazyCommand("commodore.cli.argocd_test:test", "Test whether Applications render and are allowed."),
    },
)
@options()
def argocd() -> None:
    """Show what Argo CD would deploy, from files alone.

    No cluster and no Argo CD is contacted. Exit codes are those of diff: 0 if all is well, 1 if there is a
    difference, 2 if anything failed.
    """
