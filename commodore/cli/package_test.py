"""`commodore package test`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from commodore.cli._compile_options import compile_options
from commodore.cli._completion import complete_cases
from commodore.cli._facts import read_facts
from commodore.cli._options import options
from commodore.cli._profile import profiled
from commodore.cli._results import check_options, show_results
from commodore.cli.console import console_of
from commodore.context import Context
from commodore.limits import DEFAULT_LIMITS
from commodore.settings.compile import PACKAGE_TEST


@click.command("test")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options(*PACKAGE_TEST, complete={"case": complete_cases})
@click.pass_context
def package_test(ctx: click.Context, /, path: Path, **values: Any) -> int:
    """Compile all test cases of the package in the folder PATH and compare with their golden trees.

    A test case is a class file tests/CASE.yml; its golden tree is tests/golden/CASE. Nothing is changed in PATH, unless
    --update is given. Ends with exit code 1 if a case differs from its golden tree or cannot be compiled.
    """
    from commodore.authoring import PackageSuite, run_package_suite

    console = console_of(ctx)
    started = datetime.now(UTC)
    suite = PackageSuite(
        directory=path,
        facts=read_facts(values, console),
        options=compile_options(values, console),
        checks=check_options(values),
    )
    title = f"{ctx.command_path} {path.resolve().name}"
    with profiled(values["profile"], title, console) as announce, console.working():
        result = run_package_suite(suite, Context(announce, DEFAULT_LIMITS))
    return show_results(result, started, values["junit"], console)
