"""`commodore argocd diagnostics`: everything that is found while a repository is read."""

from __future__ import annotations

import json
from typing import Any

import click

from commodore.cli._argocd import EQUAL, FAILED, context_of, diagnostic_lines, document, named_by
from commodore.cli._options import options
from commodore.cli.console import console_of
from commodore.settings.argocd import ARGOCD_DIAGNOSTICS


@click.command("diagnostics")
@options(*ARGOCD_DIAGNOSTICS)
@click.pass_context
def diagnostics(ctx: click.Context, /, **values: Any) -> int:
    """List everything that is found while a repository is read, what merely informs, too.

    With --render all Applications are rendered and their ignore rules are checked. Each finding has a code, which
    `commodore explain` describes. The exit code is 2 if one of them is an error.
    """
    from commodore.argocd.acquiring import RepoMap, parse_repo_map
    from commodore.argocd.diagnosing import check_all
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.argocd.rendering import Capabilities
    from commodore.argocd.running import list_applications, tell_unused

    console = console_of(ctx)
    context = context_of(console, offline=values["offline"], reuse=not values["no_reuse"])
    found = Diagnostics()
    repo_map = RepoMap(parse_repo_map(values["repo_map"]))
    capabilities = Capabilities(values["kube_version"] or "", values["api_version"])
    listing = list_applications(named_by(values, context), context, found, repo_map, capabilities)
    if values["render"]:
        check_all(listing, repo_map, capabilities, context, found, values["jobs"])
    else:
        listing.tell_failures(found)
        tell_unused(repo_map, found)
    shown = found.found(strict=values["strict"])
    if values["out"] == "json":
        console.result(json.dumps(document("diagnostics", shown), indent=2))
    elif not shown:
        console.result("nothing was found")
    else:
        for line in (line for one in shown for line in diagnostic_lines(one)):
            console.result(line)
    return FAILED if any(one.severity == "error" for one in shown) else EQUAL
