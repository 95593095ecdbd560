"""`commodore catalog`: compile, list and clean cluster catalogs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.events import Announce, Warned, ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import printable_lines
from commodore.cli.catalog.argocd_diff import check_argocd_diff, show_argocd_diff
from commodore.cli.catalog.settings import CATALOG_COMPILE, CATALOG_LIST
from commodore.cli.shell.compile_options import compile_options
from commodore.cli.shell.compile_summary import StageTimes, show_summary
from commodore.cli.shell.completion import complete_clusters, complete_tenants
from commodore.cli.shell.console import Console, console_of, paint, working_dir
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.lieutenant import check_dynamic_facts, connect, read_dynamic_facts
from commodore.cli.shell.options import options
from commodore.cli.shell.profile_options import profiled
from commodore.cli.shell.settings.common import LOCAL_FETCH_WARNING
from commodore.cli.shell.watch import WatchedCompile, check_watch, watch

if TYPE_CHECKING:
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import CatalogChange, CatalogCompile
    from commodore.core.engine import Engine
    from commodore.core.lieutenant import ClusterSource
    from commodore.core.review import Review


@click.group(
    cls=LazyGroup,
    lazy={
        "clean": LazyCommand(
            "commodore.cli.catalog.commands:catalog_clean", "Remove everything that a compile generates."
        ),
        "compile": LazyCommand("commodore.cli.catalog.commands:catalog_compile", "Compile the catalog of a cluster."),
        "diff": LazyCommand("commodore.cli.catalog.diff:catalog_diff", "Show the differences between two catalogs."),
        "explain": LazyCommand("commodore.cli.catalog.explain:catalog_explain", "Show the sources of a manifest."),
        "images": LazyCommand("commodore.cli.catalog.views:catalog_images", "List the images of a catalog."),
        "list": LazyCommand("commodore.cli.catalog.commands:catalog_list", "List the clusters that the API knows."),
        "objects": LazyCommand("commodore.cli.catalog.views:catalog_objects", "List the objects of a catalog."),
        "sbom": LazyCommand("commodore.cli.catalog.views:catalog_sbom", "Write a bill of materials of a catalog."),
        "validate": LazyCommand(
            "commodore.cli.catalog.validate:catalog_validate", "Check the objects of a catalog against schemas."
        ),
    },
)
@options()
def catalog() -> None:
    """Compile, compare, explain, list and clean cluster catalogs."""


@click.command("compile")
@click.argument("cluster", shell_complete=complete_clusters)
@options(*CATALOG_COMPILE)
@click.pass_context
def catalog_compile(ctx: click.Context, /, cluster: str, **values: Any) -> None:
    """Compile the catalog of CLUSTER.

    Without --push the changes are shown and left in the folder `catalog`, and nothing leaves this machine.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import CatalogCompile, LastRun, run_compile
    from commodore.core.lieutenant import ClusterFile, LieutenantApi
    from commodore.core.sources.git import author_from

    console = console_of(ctx)
    check_watch(values)
    check_dynamic_facts(values["dynamic_fact"], ctx)
    fetch = values["fetch_dependencies"] or not values["local"]
    if not values["fetch_dependencies"] and fetch:
        console.announce(Warned("CMD-CLI-021", LOCAL_FETCH_WARNING, hint="add --local, or leave it out"))
    request = CatalogCompile(
        cluster=cluster,
        workspace=Workspace.at(working_dir(ctx)),
        push=values["push"] and not values["local"],
        local=values["local"],
        offline=values["offline"],
        force=values["force"],
        global_revision=values["global_repo_revision_override"],
        tenant_revision=values["tenant_repo_revision_override"],
        author=author_from(values["git_author_name"], values["git_author_email"], console.announce),
        diff_mode=values["migration"] or "plain",
        options=compile_options(values, console, fetch=fetch),
    )
    request = _checked(request, console, provenance=values["provenance"])
    facts = read_dynamic_facts(values["dynamic_fact"], console)

    shown, times = Shown.of(values), StageTimes()

    def review(change: CatalogChange) -> bool:
        with console.paused():
            shown.show(console, change, request.workspace)
            ask = request.push and values["interactive"] and change.changed
            with times.left_out():
                return not ask or click.confirm("Commit and push these changes?", default=False)

    if values["watch"]:
        _watch(request, console, shown)
        return
    title = f"{ctx.command_path} {cluster}"
    if values["cluster_file"] is not None or values["local"] or values["offline"]:
        source: ClusterSource = LastRun(request.workspace)
        if values["cluster_file"] is not None:
            source = ClusterFile(values["cluster_file"], facts)
        with profiled(values["profile"], title, console) as announce, console.working():
            result = run_compile(request, source, review, Context(times.listening(announce), DEFAULT_LIMITS))
    else:
        api = connect(ctx, values, console)
        with profiled(values["profile"], title, console) as announce, api as client, console.working():
            source, context = LieutenantApi(client, facts), Context(times.listening(announce), DEFAULT_LIMITS)
            result = run_compile(request, source, review, context)
    show_summary(console, cluster, result, shown.review, times, as_json=shown.as_json)
    conclude(console, request, result.change)
    console.notices(result.notices)


def _checked(request: CatalogCompile, console: Console, *, provenance: bool) -> CatalogCompile:
    """The request, if it is one that can be met; perhaps with provenance."""
    request.check()
    if not provenance:
        return request
    from commodore.hydrate import CatalogProvenance

    context = Context(console.announce, DEFAULT_LIMITS)
    return replace(request, provenance=CatalogProvenance(request.workspace.repositories, request.author, context))


def _watch(request: CatalogCompile, console: Console, shown: Shown) -> None:
    """Compile locally until the user ends it. The working directory is locked during a run, not between runs."""
    from commodore.catalog import LastRun, check_same_cluster, run_compile, watched_sources
    from commodore.core.inventory import read_cluster_params

    check_same_cluster(read_cluster_params(request.workspace), request.cluster)
    limits = replace(DEFAULT_LIMITS, lock_wait=DEFAULT_LIMITS.watch_lock_wait)
    workspace, noticed = request.workspace, set[tuple[str, ...]]()

    def compile_again(engine: Engine, announce: Announce, first: bool) -> None:
        def review(change: CatalogChange) -> bool:
            if first:
                with console.paused():
                    shown.show(console, change, workspace)
            return False

        result = run_compile(request, LastRun(workspace), review, Context(announce, limits), engine)
        if first:
            conclude(console, request, result.change)
        if result.notices not in noticed:
            noticed.add(result.notices)
            console.notices(result.notices)

    output = {"manifests": workspace.manifests, "refs": workspace.refs}
    what = WatchedCompile(
        watched_sources(request), output, compile_again, request.options, request.diff_mode, shown.how
    )
    watch(what, console, limits=limits)


class Shown:
    """Show the changes of the catalog as `text`, `objects` or `stat`, or (`none`) not at all.

    Args:
        argocd: the format of a report of the effect on Argo CD, shown instead of the changes.

    Attributes:
        review: which objects differ; None if nothing is to be shown.
    """

    def __init__(self, how: str, as_json: bool, argocd: str | None) -> None:
        self.how = how
        self.argocd = argocd
        self.as_json = as_json
        self.review: Review | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Shown:
        """Parse the options.

        Raises:
            UsageError: they request two outputs on standard output.
        """
        check_argocd_diff(values)
        return cls(values["diff"], values["output_format"] == "json", values["argocd_diff"])

    def show(self, console: Console, change: CatalogChange, workspace: Workspace) -> None:
        """Print a staged change, unless the summary is printed as JSON."""
        if self.argocd is not None:
            show_argocd_diff(workspace.catalog, self.argocd, console)
        if self.how == "none":
            return
        from commodore.catalog import review_staged, review_trees

        if not change.changed:
            self.review = review_trees({}, {})
            console.status("The catalog has not changed.")
            return
        self.review = review_staged(workspace.catalog, Context(ignore, DEFAULT_LIMITS), shown=self.how == "objects")
        counts = {name.replace("_", " "): count for name, count in asdict(change.summary).items() if count}
        console.status(f"Changes: {', '.join(f'{count} {name}' for name, count in counts.items())}")
        if self.how == "stat" or self.as_json or self.argocd is not None:
            return
        if self.how == "objects":
            from commodore.cli.shell.review import show_review

            show_review(self.review, console, indent="     ")
            return
        lines = paint((line.style, line.text) for line in change.lines)
        console.result("\n".join(f"     {line}" if line else "" for line in lines))


def conclude(console: Console, request: CatalogCompile, change: CatalogChange) -> None:
    """Print the result of the push, and the location of the catalog."""
    if change.pushed:
        console.status(f"Pushed commit {(change.committed_sha or '')[:12]}.")
    elif change.changed and request.local:
        console.status("Nothing was pushed: local mode never does.")
    elif change.changed and request.offline:
        console.status("Nothing was pushed: offline mode never does.")
    elif change.changed and not request.push:
        console.status("Nothing was pushed: add --push, and --interactive to be asked first.")
    elif change.changed:
        console.status("Nothing was pushed, as you have answered.")
    folder = request.workspace.catalog
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    console.status(f"Catalog compiled into {printable_lines(str(shown))}.")


@click.command("list")
@options(*CATALOG_LIST, complete={"tenant": complete_tenants})
@click.pass_context
def catalog_list(ctx: click.Context, /, **values: Any) -> None:
    """List the clusters that the API knows, or those of a cluster file."""
    from commodore.core.lieutenant import list_cluster_file, render_clusters

    console = console_of(ctx)
    if values["cluster_file"] is not None:
        clusters = list_cluster_file(values["cluster_file"], Context(ignore, DEFAULT_LIMITS))
        clusters = [cluster for cluster in clusters if values["tenant"] in (None, cluster.get("tenant"))]
        if values["sort_by"]:
            clusters.sort(key=lambda item: str(item.get(values["sort_by"], "")))
    else:
        with connect(ctx, values, console) as client, console.working():
            clusters = client.clusters(tenant=values["tenant"], sort_by=values["sort_by"])
    console.result(render_clusters(clusters, values["out"]), newline=False)


@click.command("clean")
@options()
@click.pass_context
def catalog_clean(ctx: click.Context, /) -> None:
    """Remove everything that a compile generates.

    Clones and checkouts of dependencies stay, and so does `vendor`. Folders that hold work of yours are not removed.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import clean

    console = console_of(ctx)
    with console.working(keep=False):
        clean(Workspace.at(working_dir(ctx)), console.context)
    console.status("Cleaned.")
