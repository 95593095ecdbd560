"""`commodore catalog diff`: the differences between two catalogs by object."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import CommodoreError
from commodore.cli.catalog.settings import CATALOG_DIFF
from commodore.cli.catalog.tree import change_selection, tree_of
from commodore.cli.shell.console import Console, console_of, working_dir
from commodore.cli.shell.options import options
from commodore.cli.shell.review import check_flags, dangers, markdown, noise_of, show_review

if TYPE_CHECKING:
    from commodore.core.review import Review

_FAILED = 2  # as `diff`: 0 for no difference, 1 for differences


@click.command("diff")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@options(*CATALOG_DIFF)
@click.pass_context
def catalog_diff(ctx: click.Context, /, folder: Path | None, **values: Any) -> int:
    """Show which objects differ between two catalogs, how, and whether that is dangerous.

    FOLDER is a working copy of a catalog repository; by default that of the working directory, in which a compile
    without --push leaves what it has made. --base and --target take other folders, too.

    Ends with exit code 0 if nothing differs, 1 if something does, and 2 on errors. Secrets are masked.
    """
    console = console_of(ctx)
    try:
        result = _review(folder or working_dir(ctx) / "catalog", values)
        _show(result, values, console)
    except CommodoreError as error:
        console.error(error)
        return _FAILED
    if values["fail_on"]:
        return int(bool(dangers(result, values["fail_on"])))
    return int(bool(result.groups))


def _review(folder: Path, values: Mapping[str, Any]) -> Review:
    from commodore.catalog import objects_of
    from commodore.core.review import review

    noise = noise_of(values)
    check_flags(values["fail_on"])
    old = tree_of(folder, values["base"])
    new = tree_of(folder, values["target"])
    return review(objects_of(old, new), objects_of(new, old), noise, change_selection(values))


def _show(results: Review, values: Mapping[str, Any], console: Console) -> None:
    from commodore.core.review import html_report, json_report, summary

    form = values["out"]
    if form == "json":
        console.document("catalog-diff", json_report(results))
    elif form == "markdown":
        shown = markdown(results, values, title="Catalog changes", whole=_command(values))
        console.result(shown, newline=False)
    elif form == "html":
        console.data(html_report(results, title="Catalog changes"))
    elif form == "stat":
        console.result(summary(results))
    else:
        show_review(results, console, full=values["full"])


def _command(values: Mapping[str, Any]) -> str:
    """The command that shows everything."""
    target = ["--target", values["target"]] if values["target"] else []
    return shlex.join(["commodore", "catalog", "diff", "--base", values["base"], *target])
