"""`commodore hydrate plan` and `run`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._options import options
from commodore.cli.console import console_of, working_dir
from commodore.cli.hydrate_render import rules_of
from commodore.context import Context
from commodore.errors import CommodoreError
from commodore.printable import printable
from commodore.settings.hydrate import HYDRATE_PLAN, HYDRATE_RUN

if TYPE_CHECKING:
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.hydrate.publishing import Result
    from commodore.hydrate.running import Hydrator, Job, Planned


@click.command("plan")
@click.argument("sources", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[SOURCE]...")
@options(*HYDRATE_PLAN)
@click.pass_context
def plan(ctx: click.Context, /, sources: tuple[Path, ...], **values: Any) -> int:
    """Show the groups of Applications, and what would be done for each. Nothing is rendered, nothing is written.

    SOURCE is a file or folder with Applications or a hydrate.yaml; by default the current folder.
    """
    console = console_of(ctx)
    offline = values["offline"]
    with _opened(ctx, sources, values, Context(console.announce, console.context.limits, offline)) as hydrator:
        planned = hydrator.plan()
    if values["out"] == "json":
        console.result(json.dumps({"groups": [_group(one) for one in planned]}, indent=2))
        return 0
    for one in planned:
        console.result(printable(f"{one.group.branch}  {one.decision}: {one.reason}"))
        for member in one.group.members:
            console.result(printable(f"  {member.path}  {member.name} from {member.dry_path or '.'}"))
    branches = sorted({one.group.branch for one in planned})
    console.result(printable(f"Protect these branches from other pushes: {', '.join(branches)}"))
    return 0


@click.command("run")
@click.argument("sources", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[SOURCE]...")
@options(*HYDRATE_RUN)
@click.pass_context
def run(ctx: click.Context, /, sources: tuple[Path, ...], **values: Any) -> int:
    """Render Applications, commit what has changed to their branches, and push.

    SOURCE is a file or folder with Applications or a hydrate.yaml; by default the current folder. A group that fails
    does not hold back others. Clones are kept in the working directory.
    """
    console = console_of(ctx)
    with _opened(ctx, sources, values, console.context) as hydrator:
        results = hydrator.run()
    errors = [result for _, result in results if isinstance(result, CommodoreError)]
    if values["out"] == "json":
        groups = [{**_group(planned), **_outcome(result)} for planned, result in results]
        code = max((error.exit_code for error in errors), default=0)
        console.result(json.dumps({"groups": groups, "exit": code}, indent=2))
    else:
        for line in _lines(results):
            console.result(printable(line))
    for planned, result in results:
        if isinstance(result, CommodoreError):
            console.error(result.about(f"branch {planned.group.branch}"))
    return max((error.exit_code for error in errors), default=0)


@contextlib.contextmanager
def _opened(
    ctx: click.Context, sources: Sequence[Path], values: Mapping[str, Any], context: Context
) -> Iterator[Hydrator]:
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.git import RepositoryStore
    from commodore.hydrate.running import Hydrator
    from commodore.workspace import Workspace

    diagnostics = Diagnostics()
    job = _job(sources, values, context, diagnostics)
    workspace = Workspace.at(working_dir(ctx))
    with workspace.locked(context.limits), RepositoryStore(workspace.repositories, context) as store:
        yield Hydrator(job, store, context, diagnostics)


def _job(sources: Sequence[Path], values: Mapping[str, Any], context: Context, diagnostics: Diagnostics) -> Job:
    from commodore.argocd.configuration import read_settings
    from commodore.git import author_from
    from commodore.hydrate.model import Writing
    from commodore.hydrate.rendering import templates_of
    from commodore.hydrate.running import Job
    from commodore.hydrate.sources import read_sources

    settings = read_settings(values["argocd_settings"], context.limits, diagnostics)
    texts = templates_of(settings, values["readme_template"], values["message_template"])
    texts.check()
    sign = values.get("sign")
    return Job(
        found=read_sources(sources or [Path.cwd()], context.limits),
        settings=settings,
        rules=rules_of(values, texts, context),
        writing=Writing(
            removal=values.get("removed", "report"),
            rewrite=values.get("rewrite", False),
            allow_empty=values.get("allow_empty", False),
            allow_mass_removal=values.get("allow_mass_removal", False),
            adopt=tuple(values.get("adopt", ())),
            notes=values["notes"],
        ),
        only=tuple(values["only"]),
        protect=tuple(values["protect"]),
        author=author_from(values.get("git_author_name"), values.get("git_author_email"), context.announce),
        sign="" if sign == "default" else sign,
        dry_run=values.get("dry_run", False),
        allow_older=values.get("allow_older", False),
        lenient=values["lenient"],
        options_in_git=values["options_in_git"],
    )


def _group(planned: Planned) -> dict[str, Any]:
    from commodore.git import redact

    group = planned.group
    return {
        "id": group.id,
        "dry": {
            "repoURL": redact(group.first.dry_url),
            "targetRevision": group.first.dry_revision or "HEAD",
            "sha": group.dry_sha,
        },
        "destination": {
            "repoURL": redact(group.first.url),
            "branch": group.branch,
            "syncBranch": group.first.sync_branch,
        },
        "applications": [{"name": one.name, "path": one.path} for one in group.members],
        "outcome": planned.decision,
        "reason": planned.reason,
    }


def _outcome(result: Result) -> dict[str, Any]:
    if isinstance(result, CommodoreError):
        return {"outcome": "failed", "reason": result.message, "error": result.as_dict()}
    return {
        "outcome": result.word,
        "reason": result.reason,
        "commit": result.commit or None,
        "base": result.base or None,
        "changed": list(result.changed),
        "removed": list(result.removed),
        "stale": list(result.stale),
        "error": None,
    }


def _lines(results: Sequence[tuple[Planned, Result]]) -> Iterator[str]:
    for planned, result in results:
        if isinstance(result, CommodoreError):
            yield f"{planned.group.branch}  failed"
            continue
        commit = f" {result.commit[:7]}" if result.commit else ""
        yield f"{planned.group.branch}  {result.word}{commit}: {result.reason}"
        yield from (f"  changed  {path}" for path in result.changed)
        yield from (f"  removed  {path}" for path in result.removed)
