"""A group of commands that tells how it was called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from commodore.cli.catalog.settings import DYNAMIC_FACTS
from commodore.cli.shell.console import console_of
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import API, FORCE

ENTRY = LazyCommand("tests.cli.probe:group", "Tell how it was called.")


@dataclass(frozen=True, slots=True)
class Seen:
    verbosity: int
    quiet: bool
    values: dict[str, Any]


SEEN: list[Seen] = []


@click.group(cls=LazyGroup, lazy={"look": LazyCommand("tests.cli.probe:look", "Look.")})
@options()
def group() -> None:
    """Tell how it was called."""


@click.command("look")
@options(*API, FORCE, DYNAMIC_FACTS)
@click.pass_context
def look(ctx: click.Context, /, **values: Any) -> None:
    """Look."""
    console = console_of(ctx)
    SEEN.append(Seen(console.verbosity, console.quiet, values))
