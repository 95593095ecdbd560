"""`commodore package`: work on configuration packages."""

from __future__ import annotations

import click

from commodore.cli._lazy import LazyCommand, LazyGroup
from commodore.cli._options import options


@click.group(
    cls=LazyGroup,
    lazy={
        "compile": LazyCommand(
            "commodore.cli.package_compile:package_compile", "Compile one package, without a cluster."
        ),
    },
)
@options()
def package() -> None:
    """Work on configuration packages."""
