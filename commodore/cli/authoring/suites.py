"""`commodore component test` and `commodore package test`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.cli.authoring.compile_settings import COMPONENT_TEST, PACKAGE_TEST
from commodore.cli.authoring.facts import read_facts
from commodore.cli.authoring.results import check_options, show_results
from commodore.cli.shell.compile_options import compile_options
from commodore.cli.shell.completion import complete_aliases, complete_cases
from commodore.cli.shell.console import Console, console_of
from commodore.cli.shell.options import options
from commodore.cli.shell.profile_options import profiled

if TYPE_CHECKING:
    from commodore.authoring import CaseSource

_PATH = click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))


@click.command("test")
@_PATH
@options(*COMPONENT_TEST, complete={"case": complete_cases, "alias": complete_aliases})
@click.pass_context
def component_test(ctx: click.Context, /, path: Path, **values: Any) -> int:
    """Compile all test cases of the component in the folder PATH and compare with their golden trees.

    A test case is a class file tests/CASE.yml; its golden tree is tests/golden/CASE. Nothing is changed in PATH, unless
    --update is given. Ends with exit code 1 if a case differs from its golden tree or cannot be compiled.
    """
    from commodore.authoring import ComponentSource, ComponentSuite

    console = console_of(ctx)
    suite = ComponentSuite(
        source=ComponentSource.at(path, console.context, name=values["name"], alias=None),
        alias=values["alias"],
        search_paths=values["search_paths"],
        **_how(values, console),
    )
    title = f"{ctx.command_path} {suite.source.name}"
    return _run(suite, title, values, console)


@click.command("test")
@_PATH
@options(*PACKAGE_TEST, complete={"case": complete_cases})
@click.pass_context
def package_test(ctx: click.Context, /, path: Path, **values: Any) -> int:
    """Compile all test cases of the package in the folder PATH and compare with their golden trees.

    A test case is a class file tests/CASE.yml; its golden tree is tests/golden/CASE. Nothing is changed in PATH, unless
    --update is given. Ends with exit code 1 if a case differs from its golden tree or cannot be compiled.
    """
    from commodore.authoring import PackageSuite

    console = console_of(ctx)
    suite = PackageSuite(directory=path.resolve(), **_how(values, console))
    return _run(suite, f"{ctx.command_path} {suite.directory.name}", values, console)


def _how(values: dict[str, Any], console: Console) -> dict[str, Any]:
    """Return the options for cases of either kind."""
    return {
        "facts": read_facts(values, console),
        "options": compile_options(values, console),
        "checks": check_options(values),
    }


def _run(suite: CaseSource, title: str, values: Mapping[str, Any], console: Console) -> int:
    from commodore.authoring import run_suite

    started = datetime.now(UTC)
    with profiled(values["profile"], title, console) as announce, console.working():
        result = run_suite(suite, console.context.with_announce(announce))
    return show_results(result, started, values["junit"], console)
