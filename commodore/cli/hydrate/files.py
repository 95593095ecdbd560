"""`hydrate run --dry-run --repo-map` and `--watch-files`: what the files of a checkout would change on branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, UsageError
from commodore.cli.hydrate.common import Source, opened, report_left_out
from commodore.cli.hydrate.report import report, shown
from commodore.cli.shell.console import Console, working_dir
from commodore.cli.shell.watch import announce_change, until_ended

if TYPE_CHECKING:
    from commodore.base.files.watching import WatchedPaths

_OF_COMMITS = ("watch", "dry_sha", "each_commit")


def check_files(sources: Sequence[Source], values: Mapping[str, Any]) -> None:
    """Refuse options that do not go with files of a checkout: what is not committed is never pushed.

    Raises:
        UsageError: CMD-HYD-017, standard input cannot be watched; CMD-HYD-046, not a dry run, or a dry run of commits.
    """
    if not values["watch_files"] and not values["repo_map"]:
        return
    option = "--watch-files" if values["watch_files"] else "--repo-map"
    if not values["dry_run"]:
        raise UsageError(
            "CMD-HYD-046", f"{option} needs --dry-run", hint="commit and push the sources, then run without it"
        )
    for name in _OF_COMMITS:
        if values[name]:
            other = f"--{name.replace('_', '-')}"
            raise UsageError("CMD-HYD-046", f"{option} and {other} cannot be combined", hint="leave one of them out")
    if values["watch_files"] and any(str(source) == "-" for source in sources):
        raise UsageError(
            "CMD-HYD-017",
            "--watch-files needs sources that can be read again",
            hint="name files or folders with Applications, or leave --watch-files out",
        )


def watch_files(ctx: click.Context, sources: Sequence[Source], values: Mapping[str, Any], console: Console) -> None:
    """Show what would be pushed, and again whenever a file has changed, until the user ends it.

    Remotes are asked until a look has gone well; later looks compare with what was fetched then.

    Raises:
        CommodoreError: the first look failed for a reason that no edit of the watched files removes.
    """
    from commodore.base.files.watching import Watch
    from commodore.hydrate import hydrate

    limits = replace(console.context.limits, lock_wait=console.context.limits.watch_lock_wait)
    context = Context(console.announce, limits, values["offline"])
    with until_ended(console):
        for names in Watch(_watched(ctx, sources, values), limits=limits).batches():
            if names:
                announce_change(names, console)
            try:
                with opened(ctx, sources, values, context) as run:
                    hydrated = hydrate(run)
                report(shown(hydrated.results), values, console, report_left_out(hydrated.lost, console))
                context = replace(context, offline=True)
            except CommodoreError as error:
                if error.exit_code == 70 or (not names and error.exit_code != 1):
                    raise
                console.error(error)
            console.status("Waiting for changes (Ctrl-C ends).")


def _watched(ctx: click.Context, sources: Sequence[Source], values: Mapping[str, Any]) -> WatchedPaths:
    from commodore.argocd import parse_repo_map
    from commodore.base.files.watching import WatchedPaths
    from commodore.base.files.workspace import Workspace

    workspace = Workspace.at(working_dir(ctx))
    places = [source for source in sources or [Path.cwd()] if isinstance(source, Path)]
    places += [item.folder for item in parse_repo_map(values["repo_map"])]
    places += [values[name] for name in ("readme_template", "message_template") if values[name] is not None]
    places += values["argocd_settings"]
    apart = [file.resolve() for _, file in values["report"]]
    roots = tuple(place.resolve() for place in places)
    return WatchedPaths(roots, (workspace.dependencies, workspace.state, *apart), Path.cwd(), hidden=True)
