"""Shared by the commands of `hydrate`: the job that options describe, and how groups are shown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.cli.shell.console import Console, console_of, working_dir
from commodore.cli.shell.lieutenant import connect

if TYPE_CHECKING:
    from commodore.base.diagnostics import Diagnostics
    from commodore.base.files.workspace import Workspace
    from commodore.core.sources.git import RepositoryStore
    from commodore.hydrate import Catalogs, Job, PlannedGroup, PublishRules, Result, Rules, Run, Sources, Texts

NOTHING = "CMD-HYD-001"
"""The code of sources without Applications to hydrate."""

Source = Path | str
"""A file, a folder, `-`, or a URL."""


class _SourceType(click.Path):
    """Files and folders that exist on this machine, and URLs as they are."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if "://" in str(value) else super().convert(value, param, ctx)


SOURCES = click.argument(
    "sources", nargs=-1, type=_SourceType(exists=True, allow_dash=True, path_type=Path), metavar="[SOURCE]..."
)


@contextlib.contextmanager
def opened(ctx: click.Context, sources: Sequence[Source], values: Mapping[str, Any], context: Context) -> Iterator[Run]:
    """A run that hydrates the sources as the options say, in the working directory."""
    from commodore.base.diagnostics import Diagnostics
    from commodore.base.files.workspace import Workspace
    from commodore.core.sources.git import RepositoryStore
    from commodore.hydrate import Run, read_sources

    diagnostics = Diagnostics()
    workspace = Workspace.at(working_dir(ctx))
    with (
        publishing_of(values, context) as publishing,
        held(workspace, context),
        RepositoryStore(workspace.repositories, context) as store,
        _present(sources, values.get("dry_sha") or "", store) as (places, shown),
        _catalogs(ctx, workspace, values, context) as catalogs,
    ):
        result = read_sources(places, context.limits, shown)
        job = _job(result, store, values, context, diagnostics)
        yield Run(replace(job, publishing=publishing, catalogs=catalogs), store, context, diagnostics)
    for item in diagnostics.collected():
        if item.severity == "warning":
            context.announce(item.as_warning())


@contextlib.contextmanager
def held(workspace: Workspace, context: Context) -> Iterator[None]:
    """Hold the working directory. It may be a checkout, where git should not see what is kept in it."""
    from commodore.base.files.workspace import write_atomically

    with workspace.locked(context.limits):
        for folder in (workspace.state, workspace.repositories):
            write_atomically(folder / ".gitignore", b"*\n", root=workspace.root)
        yield


def warn_of_local_edits(sources: Sequence[Source], planned: Iterable[PlannedGroup], context: Context) -> None:
    """Warn of files of the sources' checkouts that are not committed, and so are not hydrated."""
    from commodore.hydrate import warn_of_edits

    places = [source for source in sources or [Path.cwd()] if isinstance(source, Path) and str(source) != "-"]
    warn_of_edits(places, (item.group for item in planned), context)


@contextlib.contextmanager
def _present(
    sources: Sequence[Source], dry_sha: str, store: RepositoryStore
) -> Iterator[tuple[list[Path], dict[Path, str]]]:
    """Yield the sources as files and folders, and the display names of fetched ones, until the end of the block."""
    from commodore.base.files.staging import temporary_folder
    from commodore.core.sources.git import redact
    from commodore.hydrate import read_remote

    places: list[Path] = []
    shown: dict[Path, str] = {}
    with contextlib.ExitStack() as kept:
        for source in sources or [Path.cwd()]:
            remote = read_remote(source) if isinstance(source, str) else None
            if remote is None:
                places.append(Path(source))
                continue
            folder = kept.enter_context(temporary_folder()) / "source"
            remote.fetch(store, folder, dry_sha)
            places.append(folder)
            shown[folder] = redact(str(source))
        yield places, shown


@contextlib.contextmanager
def _catalogs(
    ctx: click.Context, workspace: Workspace, values: Mapping[str, Any], context: Context
) -> Iterator[Catalogs]:
    """A compiler of catalogs, in working directories below that one. The API is connected to when one is asked for."""
    from commodore.core.lieutenant import ClusterFile, ClusterSource, LieutenantApi
    from commodore.hydrate import Catalogs

    with contextlib.ExitStack() as kept:
        known: list[ClusterSource] = []

        def source(of_cluster: Workspace) -> ClusterSource:
            if values["cluster_file"] is None and context.offline:
                from commodore.catalog import LastRun

                return LastRun(of_cluster)
            if not known and values["cluster_file"] is not None:
                known.append(ClusterFile(values["cluster_file"]))
            elif not known:
                known.append(LieutenantApi(kept.enter_context(connect(ctx, values, console_of(ctx)))))
            return known[0]

        yield Catalogs(workspace.root / "clusters", source, context, values.get("jobs") or 0)


@contextlib.contextmanager
def publishing_of(values: Mapping[str, Any], context: Context) -> Iterator[PublishRules]:
    """The rules for publishing, by the options; files of keys are there as long as the block runs."""
    from commodore.base.files.staging import temporary_folder
    from commodore.hydrate import CommitRules, PublishRules, read_credentials

    writing = CommitRules(
        removal=values.get("removed", "report"),
        edited=values.get("edited", "refuse"),
        rewrite=values.get("rewrite", False),
        allow_empty=values.get("allow_empty", False),
        allow_mass_removal=values.get("allow_mass_removal", False),
        adopt=tuple(values.get("adopt", ())),
        notes=values["notes"],
        dated_dry=values.get("commit_date") == "dry",
    )
    sign = values.get("sign")
    how = PublishRules(
        writing,
        sign="" if sign == "default" else sign,
        allow_older=values.get("allow_older", False),
        dry=values.get("dry_run", False),
    )
    place = values.get("push_credentials")
    if place is None:
        yield how
        return
    with temporary_folder() as folder:
        yield replace(how, rights=read_credentials(place, folder, context).rights)


def _job(
    results: Sources,
    store: RepositoryStore,
    values: Mapping[str, Any],
    context: Context,
    diagnostics: Diagnostics,
) -> Job:
    from commodore.argocd import RepoMap, parse_repo_map
    from commodore.core.sources.git import author_from
    from commodore.hydrate import Job, Selection, author_of, expanded, read_installation, templates_of

    settings = read_installation(results, values["argocd_settings"], context.limits, diagnostics)
    texts = templates_of(settings, values["readme_template"], values["message_template"], results.texts)
    texts.check()
    given = author_from(values.get("git_author_name"), values.get("git_author_email"), context.announce)
    return Job(
        sources=expanded(results, settings, context, diagnostics, store),
        settings=settings,
        rules=rules_of(values, texts, context),
        only=Selection(tuple(values["only"]), tuple(values["branch"]), tuple(values["repo"])),
        protect=tuple(values["protect"]),
        author=given or author_of(settings, results.author),
        lenient=values["lenient"],
        options_in_git=values["options_in_git"],
        dry_sha=values.get("dry_sha") or "",
        each_commit=values.get("each_commit", False),
        twice=values.get("twice", False),
        verify_dry=values.get("verify_dry", False),
        hard=values.get("hard", False),
        repo_map=RepoMap(parse_repo_map(values.get("repo_map", ()))),
    )


def rules_of(values: Mapping[str, Any], texts: Texts, context: Context) -> Rules:
    """The rules for rendering, by the options."""
    from commodore.hydrate import Rules, renderer_versions

    allowed = tuple(values["allow_secret"])
    jobs = values.get("jobs") or 0
    versions, namespace = renderer_versions(context), values["set_namespace"]
    return Rules(texts, values["order"], values["secrets"], allowed, versions, jobs, namespace)


def permissive(run: Run) -> Run:
    """A run that renders what was committed already, whatever secrets are in it."""
    return replace(run, job=replace(run.job, rules=replace(run.job.rules, secrets="allow")))


def report_left_out(lost: Sequence[CommodoreError], console: Console) -> int:
    """Say why Applications were left out. Returns the exit code that they make."""
    for error in lost:
        console.error(error)
    return max((error.exit_code for error in lost), default=0)


def group_data(planned: PlannedGroup) -> dict[str, Any]:
    """A group as JSON-ready data."""
    from commodore.core.sources.git import redact

    group = planned.group
    return {
        "id": group.id,
        "dry": {
            "repo_url": redact(group.first.dry_url),
            "target_revision": group.first.dry_revision or "HEAD",
            "sha": group.dry_sha,
        },
        "destination": {
            "repo_url": redact(group.first.url),
            "branch": group.branch,
            "sync_branch": group.first.sync_branch,
        },
        "applications": [{"name": member.name, "path": member.path} for member in group.members],
        "outcome": planned.decision,
        "reason": planned.reason,
        "stale": list(planned.stale),
        "edited": {path: edit.by for path, edit in planned.edits.items()},
    }


def result_data(details: Mapping[str, Any], result: Result, planned: PlannedGroup | None = None) -> dict[str, Any]:
    """A group with what became of it, and of each of its Applications, as JSON-ready data.

    Args:
        details: data of the group known before the run.
    """
    data = {**details, **_outcome_data(result)}
    if "applications" in data:
        data["applications"] = [{**item, **_member_data(item["path"], result)} for item in data["applications"]]
    warnings = [*(planned.warnings if planned is not None else ())]
    warnings += () if isinstance(result, CommodoreError) else result.warnings
    data["warnings"] = [
        {"code": warning.code, "message": warning.message, "hint": warning.hint} for warning in warnings
    ]
    if planned is not None:
        data["seconds"] = round(planned.seconds, 3)
    return data


def _member_data(path: str, result: Result) -> dict[str, Any]:
    """The result of an output path; the numbers of objects are there if it was rendered."""
    if isinstance(result, CommodoreError):
        return {"outcome": "failed"}
    counts = result.counts.get(path)
    return {"outcome": "changed" if path in result.changed else "unchanged"} | (asdict(counts) if counts else {})


def _outcome_data(result: Result) -> dict[str, Any]:
    """The result of a group as JSON-ready data."""
    if isinstance(result, CommodoreError):
        return {"outcome": "failed", "reason": result.message, "error": result.as_plain()}
    return {
        "outcome": result.word,
        "reason": result.reason,
        "commit": result.commit or None,
        "base": result.base or None,
        "changed": list(result.changed),
        "removed": list(result.removed),
        "stale": list(result.stale),
        "diff": list(result.diff),
        "error": None,
    }


def outcome_lines(branch: str, result: Result) -> Iterator[str]:
    """The result of a group, for people."""
    if isinstance(result, CommodoreError):
        yield f"{branch}  failed"
        return
    commit = f" {result.commit[:7]}" if result.commit else ""
    yield f"{branch}  {result.word}{commit}: {result.reason}"
    yield from (f"  changed  {path}" for path in result.changed)
    yield from (f"  removed  {path}" for path in result.removed)
    yield from (f"  {line}" for line in result.diff)
