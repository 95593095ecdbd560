"""`commodore catalog diff`: what differs between two catalogs, object by object."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._catalog_tree import change_selection, tree_of
from commodore.cli._options import options
from commodore.cli.console import Console, console_of, paint, working_dir
from commodore.errors import CommodoreError, UsageError, did_you_mean
from commodore.settings.catalog import CATALOG_DIFF

if TYPE_CHECKING:
    from commodore.manifests.object_diff import NoiseRule, Review

_FAILED = 2  # as `diff`: 0 for no difference, 1 for differences
_ANY = "any"


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
        found = _review(folder or working_dir(ctx) / "catalog", values)
        _show(found, values, console)
    except CommodoreError as error:
        console.error(error)
        return _FAILED
    names = {flag.name for flag in found.flags}
    if values["fail_on"]:
        return int(bool(names) if _ANY in values["fail_on"] else bool(names & set(values["fail_on"])))
    return int(bool(found.groups))


def _review(folder: Path, values: Mapping[str, Any]) -> Review:
    from commodore.catalog import objects_of
    from commodore.manifests.object_diff import DEFAULT_NOISE, review

    hidden = tuple(map(_noise_rule, values["hide"]))
    _check_flags(values["fail_on"])
    old = tree_of(folder, values["base"])
    new = tree_of(folder, values["target"])
    noise = () if values["noise"] else (*DEFAULT_NOISE, *hidden)
    return review(objects_of(old, new), objects_of(new, old), noise, change_selection(values))


def _check_flags(wanted: tuple[str, ...]) -> None:
    from commodore.manifests.object_diff import FLAGS

    for name in wanted:
        if name != _ANY and name not in FLAGS:
            raise UsageError(
                "CMD-CLI-030",
                f"{name!r} is no danger that is looked for",
                hint=did_you_mean(name, [_ANY, *FLAGS]) or f"these are: {', '.join((_ANY, *FLAGS))}",
            )


def _noise_rule(text: str) -> NoiseRule:
    """One value of `--hide`."""
    from commodore.manifests.object_diff import NoiseRule

    field, _, pattern = text.partition(":")
    if field not in ("labels", "annotations") or not pattern:
        raise UsageError(
            "CMD-CLI-032",
            f"--hide {text!r} does not say which labels or annotations",
            hint="write --hide 'labels:example.com/*' or --hide 'annotations:example.com/*'",
        )
    return NoiseRule("labels" if field == "labels" else "annotations", pattern)


def _show(found: Review, values: Mapping[str, Any], console: Console) -> None:
    from commodore.manifests.object_diff import html_report, json_report, markdown_report, summary

    form = values["out"]
    if form == "json":
        console.result(json.dumps(json_report(found), indent=2))
    elif form == "markdown":
        if values["max_bytes"] < 4096:
            raise UsageError("CMD-CLI-031", "--max-bytes is less than 4096", hint="a report needs 4096 bytes at least")
        whole = values["report_url"] or _command(values)
        shown = markdown_report(found, title="Catalog changes", budget=values["max_bytes"], whole=whole)
        console.result(shown, newline=False)
    elif form == "html":
        console.result(html_report(found, title="Catalog changes"))
    elif form == "stat":
        console.result(summary(found))
    else:
        show_review(found, console, full=values["full"])


def _command(values: Mapping[str, Any]) -> str:
    """The command that shows everything."""
    target = ["--target", values["target"]] if values["target"] else []
    return shlex.join(["commodore", "catalog", "diff", "--base", values["base"], *target])


def show_review(found: Review, console: Console, *, full: bool = False, indent: str = "") -> None:
    """Print a review as text; its long changes are folded for people at a terminal, unless they want all of it."""
    from commodore.manifests.object_diff import text_report

    folded = not full and sys.stdout.isatty()
    lines = list(text_report(found, folded=folded))
    console.result("\n".join(f"{indent}{line}".rstrip() for line in paint((line.style, line.text) for line in lines)))
    if folded and len(lines) < sum(1 for _ in text_report(found)):
        console.status("Long changes are folded: commodore catalog diff --full shows all of them.")
