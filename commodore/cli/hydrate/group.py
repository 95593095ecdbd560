"""`commodore hydrate`: rendered branches with provenance."""

from __future__ import annotations

import click

from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options


@click.group(
    "hydrate",
    cls=LazyGroup,
    lazy={
        "check": LazyCommand("commodore.cli.hydrate.look:check", "Verify that branches hold what they record."),
        "commit": LazyCommand("commodore.cli.hydrate.commit:commit", "Commit and push what a bundle wants."),
        "plan": LazyCommand("commodore.cli.hydrate.run:plan", "Show what would be hydrated, and why."),
        "render": LazyCommand("commodore.cli.hydrate.render:render", "Render, and write folders or a bundle."),
        "run": LazyCommand("commodore.cli.hydrate.run:run", "Render, commit and push."),
        "status": LazyCommand("commodore.cli.hydrate.look:status", "Show what branches are at."),
    },
)
@options()
def hydrate() -> None:
    """Render the sources of Argo CD Applications into branches that hold plain manifests.

    spec.sourceHydrator of Applications defines what is rendered where; without Argo CD a hydrate.yaml does. Each dry
    commit makes at most one commit on each branch. Nothing is ever pushed by force, and files of others stay.
    """
