"""`commodore hydrate render`: the commits that are wanted as a bundle, or what branches would hold as folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commodore.base.errors import UsageError
from commodore.base.printable import printable
from commodore.cli.hydrate.common import SOURCES, Source, opened, report_left_out, rules_of, warn_of_local_edits
from commodore.cli.hydrate.settings import HYDRATE_RENDER
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options


@click.command("render")
@SOURCES
@options(*HYDRATE_RENDER)
@click.pass_context
def render(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Render Applications, and write the commits that are wanted to a bundle, or whole branches to a folder.

    With --bundle, SOURCE is as for run; what run would push goes to a new folder, and hydrate commit pushes it from a
    job with the rights for that.

    With --tree, branches go to branches/NAME in the folder, and groups.json in it lists the result of each. Every
    branch is written as if it were empty; no remote is contacted. Applications come from --app, their sources from
    the folders that --repo-map names, at the commit that is checked out there.

    As in Argo CD, a source hydrator wins over a source of the same Application, with a warning.
    """
    if values["bundle"] is not None:
        return _bundle(ctx, sources, values)
    return _trees(ctx, (*sources, *values["app"]), values)


def _bundle(ctx: click.Context, sources: tuple[Source, ...], values: dict[str, Any]) -> int:
    from commodore.hydrate import plan, read, requests_of, write_bundle

    console = console_of(ctx)
    if values["folder"] is not None:
        raise UsageError("CMD-HYD-013", "--bundle and --tree cannot be combined", hint="name one of them")
    # What is not committed is not bundled: --repo-map is of --tree.
    values = {**values, "dry_run": True, "repo_map": (), "lenient": True}
    with opened(ctx, (*sources, *values["app"]), values, console.context) as run:
        planned = plan(read(run))
        requests, failed = requests_of(planned)
        write_bundle(values["bundle"], requests)
    warn_of_local_edits(sources, planned.groups, console.context)
    for group in planned.groups:
        error = failed.get(group.group.id)
        console.result(printable(f"{group.group.branch}  {'failed' if error else group.decision}"))
        if error is not None:
            console.error(error.about(f"branch {group.group.branch}"))
    return max([report_left_out(planned.lost, console), *(error.exit_code for error in failed.values())])


def _trees(ctx: click.Context, sources: tuple[Source, ...], values: dict[str, Any]) -> int:
    from commodore.argocd import Capabilities, RepoMap, open_sources, parse_repo_map
    from commodore.base.diagnostics import Diagnostics
    from commodore.hydrate import (
        GroupRenderer,
        expanded,
        read_installation,
        read_sources,
        render_trees,
        templates_of,
    )

    console = console_of(ctx)
    places = [source for source in sources if isinstance(source, Path)]
    if len(places) < len(sources):
        raise UsageError("CMD-HYD-013", "--tree contacts no remote", hint="name files and folders, or use --bundle")
    if not sources or values["folder"] is None:
        missing = "--app" if not sources else "--tree or --bundle"
        raise UsageError("CMD-HYD-013", f"{missing} is missing", hint="see 'commodore hydrate render --help'")
    context, result = console.context, Diagnostics()
    read = read_sources(places, context.limits)
    settings = read_installation(read, values["argocd_settings"], context.limits, result)
    texts = templates_of(settings, values["readme_template"], values["message_template"], read.texts)
    rules = rules_of(values, texts, context)
    repo_map = RepoMap(parse_repo_map(values["repo_map"]))
    applications = expanded(read, settings, context, result).applications
    with open_sources(settings, repo_map, Capabilities(), context, result) as opened:
        renderer = GroupRenderer(settings, opened.renderer, rules, context, result)
        groups = render_trees(applications, renderer, values["folder"])
    for group in groups:
        if group.error is not None:
            console.error(group.error.about(f"branch {group.branch}"))
    return max((group.error.exit_code for group in groups if group.error is not None), default=0)
