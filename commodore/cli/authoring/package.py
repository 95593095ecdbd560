"""`commodore package`: work on configuration packages."""

from __future__ import annotations

import click

from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options


@click.group(
    cls=LazyGroup,
    lazy={
        "new": LazyCommand("commodore.cli.authoring.templates:package_new", "Make a new package from a template."),
        "update": LazyCommand(
            "commodore.cli.authoring.templates:package_update", "Bring a package up to date with its template."
        ),
        "compile": LazyCommand(
            "commodore.cli.authoring.package_compile:package_compile", "Compile one package, without a cluster."
        ),
        "sync": LazyCommand(
            "commodore.cli.authoring.sync:package_sync", "Update many packages from their templates by pull requests."
        ),
        "test": LazyCommand(
            "commodore.cli.authoring.suites:package_test", "Compare a package's test cases with golden trees."
        ),
    },
)
@options()
def package() -> None:
    """Work on configuration packages."""
