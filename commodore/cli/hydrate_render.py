"""`commodore hydrate render`: what branches would hold, as plain folders."""

from __future__ import annotations

from typing import Any

import click

from commodore.cli._hydrate import rules_of
from commodore.cli._options import options
from commodore.cli.console import console_of
from commodore.errors import UsageError
from commodore.settings.hydrate import HYDRATE_RENDER


@click.command("render")
@options(*HYDRATE_RENDER)
@click.pass_context
def render(ctx: click.Context, /, **values: Any) -> int:
    """Render Applications with source hydrators, and write what each branch would hold to a folder.

    Branches go to branches/NAME in the folder, and groups.json beside them says what became of each. Every branch is
    written as if it were empty; no remote is asked for it. Sources come from the folders that --repo-map names, at the
    commit that is checked out there.
    """
    from commodore.argocd.acquiring import RepoMap, parse_repo_map
    from commodore.argocd.configuration import read_settings
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.argocd.rendering import Capabilities
    from commodore.argocd.running import open_run
    from commodore.hydrate.rendering import GroupRenderer, templates_of
    from commodore.hydrate.sources import expanded, read_sources
    from commodore.hydrate.trees import render_trees

    console = console_of(ctx)
    if not values["app"] or values["tree"] is None:
        missing = "--app" if not values["app"] else "--tree"
        raise UsageError("CMD-HYD-013", f"{missing} is missing", hint="see 'commodore hydrate render --help'")
    context, found = console.context, Diagnostics()
    settings = read_settings(values["argocd_settings"], context.limits, found)
    sources = read_sources(values["app"], context.limits)
    texts = templates_of(settings, values["readme_template"], values["message_template"], sources.texts)
    rules = rules_of(values, texts, context)
    repo_map = RepoMap(parse_repo_map(values["repo_map"]))
    applications = expanded(sources, settings, context, found).applications
    with open_run(settings, repo_map, Capabilities(), context, found) as run:
        renderer = GroupRenderer(settings, run.renderer, rules, context, found)
        groups = render_trees(applications, renderer, values["tree"])
    for group in groups:
        if group.error is not None:
            console.error(group.error.about(f"branch {group.branch}"))
    return max((group.error.exit_code for group in groups if group.error is not None), default=0)
