"""`commodore inventory lint`: look for mistakes in class files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.documents import document_text
from commodore.base.printable import counted
from commodore.cli.inventory.settings import INVENTORY_LINT
from commodore.cli.shell.console import console_of
from commodore.cli.shell.diagnostics import compact_lines
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.core.inventory.lint import Report


@click.command("lint", no_args_is_help=True)
@click.argument("targets", metavar="[TARGET]...", type=click.Path(exists=True, path_type=Path), nargs=-1)
@options(*INVENTORY_LINT)
@click.pass_context
def lint(ctx: click.Context, /, targets: tuple[Path, ...], **values: Any) -> int:
    """Look for mistakes in the class files below the given files and folders.

    Each linter looks for one kind of mistake. Some check all targets together: give the global defaults and the
    configuration of a tenant to one command. Ends with exit code 1 if errors are found.

    Hidden files are left out, and what matches a pattern of --ignore-patterns or of the file .commodoreignore in a
    target: a glob pattern per line, anchored at the target if it begins with '/', else matching at any depth.
    """
    from commodore.base.files.workspace import write_atomically
    from commodore.core.inventory.lint import LintRequest, as_github, as_sarif
    from commodore.core.inventory.lint import lint as lint_files

    console = console_of(ctx)
    request = LintRequest(targets, values["linter"], values["ignore_patterns"], values["output"])
    report = lint_files(request, console.context)
    writers = {
        "text": lambda: "\n".join(_lines(report)),
        "json": lambda: document_text("inventory-lint", report),
        "sarif": lambda: as_sarif(report),
        "github": lambda: "\n".join((*as_github(report), _summary(report))),
    }
    text = writers[values["format"]]()
    if values["output"] is not None:
        write_atomically(values["output"], click.unstyle(f"{text}\n").encode("utf-8"))
        text = "\n".join(_lines(report))
    if values["format"] == "text" or values["output"] is not None:
        console.result(text)
    else:
        console.data(text)
    return 1 if report.errors or (values["strict"] and report.warnings) else 0


def _lines(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield from compact_lines(finding)
    colour = "red" if report.errors else "yellow" if report.warnings else "green"
    yield click.style(_summary(report), fg=colour, bold=True)


def _summary(report: Report) -> str:
    if not report.findings:
        return "No errors 🎉 ✨"
    warnings = counted(report.warnings, "warning")
    if not report.errors:
        return f"No errors, {warnings}"
    errors = counted(report.errors, "error")
    return f"Found {errors}{f' and {warnings}' if report.warnings else ''}"
