"""`commodore argocd plugins`: policies for the sources of config management plugins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import printable
from commodore.cli.shell.console import console_of
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import PluginRule

_WORDS = {
    "native-kustomize": "is rendered as a kustomization",
    "native-helm": "is rendered as a chart",
    "avp": "is rendered with placeholders of secrets as they are",
    "exec": "is run only with --enable-plugins: ",
    "container": "would run a container, which is not done: its sources fail",
}


@click.group(
    "plugins",
    cls=LazyGroup,
    lazy={"check": LazyCommand("commodore.cli.argocd.plugins:check", "Check a policy of plugins.")},
)
@options()
def plugins() -> None:
    """Check policies for the sources of config management plugins."""


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@options()
@click.pass_context
def check(ctx: click.Context, /, file: Path, **_: Any) -> int:
    """Check the policy FILE strictly, and show how the sources of each plugin are handled.

    No program is run. Programs of a policy run only with --enable-plugins, and not if the policy is in the repository
    under analysis.
    """
    from commodore.argocd import read_policy

    console = console_of(ctx)
    for rule in read_policy(file, DEFAULT_LIMITS):
        console.result(printable("".join(_line(rule))))
    return 0


def _line(rule: PluginRule) -> Iterator[str]:
    yield f"{rule.name} {_WORDS[rule.engine]}"
    if rule.program is not None:
        yield " ".join(rule.program.generate)
    if rule.options:
        yield f", with {' '.join(rule.options)}"
    if rule.base:
        yield f", by {rule.base}"
    if rule.repositories:
        yield f", for {', '.join(rule.repositories)}"
