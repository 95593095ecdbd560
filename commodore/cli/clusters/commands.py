"""`commodore fleet compile` and `report`: the catalogs of many clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.errors import UsageError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import printable
from commodore.cli.clusters.settings import FLEET_COMPILE, FLEET_REPORT
from commodore.cli.shell.compile_options import compile_options
from commodore.cli.shell.console import Console, console_of, paint, working_dir
from commodore.cli.shell.lieutenant import check_dynamic_facts, connect, read_dynamic_facts
from commodore.cli.shell.options import options
from commodore.cli.shell.profile_options import profiled

if TYPE_CHECKING:
    from commodore.clusters import DaskOptions, FleetCompile, FleetReport, FleetSource, Wave


@click.command("compile")
@click.argument("clusters", nargs=-1, metavar="[CLUSTER]...")
@options(*FLEET_COMPILE)
@click.pass_context
def fleet_compile(ctx: click.Context, /, clusters: tuple[str, ...], **values: Any) -> int:
    """Compile the catalogs of many clusters: of all clusters of the API or the files, or of selected ones.

    Each cluster has its workspace in the folder `clusters`. Without --push the changes are shown, and nothing leaves
    this machine. With it clusters are compiled, checked and pushed wave by wave.
    """
    from commodore.clusters import compile_fleet

    console = console_of(ctx)
    requested = _wanted(ctx, clusters, values, console)
    as_json = values["output_format"] == "json"
    with ExitStack() as stack:
        source = _source(ctx, values, console, stack)
        announce = stack.enter_context(profiled(values["profile"], ctx.command_path, console))
        stack.enter_context(console.working())
        ask = _asking(console, ask=values["interactive"])
        report = compile_fleet(requested, source, ask, Context(announce, DEFAULT_LIMITS))
    _write(values["report"], report, report)
    _show(report, console, as_json=as_json)
    console.status(f"Report: {report.folder}")
    console.notices(tuple(dict.fromkeys(notice for cluster in report.clusters for notice in cluster.notices)))
    return report.exit_code


def _wanted(ctx: click.Context, ids: tuple[str, ...], values: Mapping[str, Any], console: Console) -> FleetCompile:
    """The request that the options describe."""
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import CatalogCompile
    from commodore.clusters import ClusterSelection, FleetCompile, Shard, parse_fact
    from commodore.core.sources.git import author_from
    from commodore.fleet import parse_duration

    request = CatalogCompile(
        cluster="",
        workspace=Workspace.at(working_dir(ctx)),
        push=values["push"],
        offline=values["offline"],
        force=values["force"],
        global_revision=values["global_repo_revision_override"],
        tenant_revision=values["tenant_repo_revision_override"],
        author=author_from(values["git_author_name"], values["git_author_email"], console.announce),
        diff_mode=values["migration"] or "plain",
        options=compile_options(values, console),
    )
    request.check()
    shard = Shard.parse(values["shard"]) if values["shard"] is not None else None
    if shard is not None and values["push"]:
        raise UsageError(
            "CMD-FLT-117",
            "--shard and --push cannot be combined",
            hint="compile the shards without --push and merge their reports; whether a wave is good shows only then",
        )
    judged = _judged(values, console) if values["from_report"] else None
    return FleetCompile(
        request=request,
        selection=ClusterSelection(ids, values["tenant"], tuple(map(parse_fact, values["fact"])), values["exclude"]),
        waves=_waves(values),
        shard=shard,
        approved=frozenset(values["approve"]),
        ahead=values["ahead"],
        status=values["status"],
        status_age=parse_duration(values["status_age"]),
        workers=values["workers"],
        retries=values["retries"],
        timeout=parse_duration(values["timeout"]),
        keep=values["keep"],
        resume=None if values["resume"] is None else values["resume"].removeprefix("newest"),
        pins=_pins(values["pins"]),
        dask=_dask(values),
        judged=judged,
    )


def _dask(values: Mapping[str, Any]) -> DaskOptions | None:
    from commodore.clusters import DaskOptions

    if values["engine"] != "dask" and not values["scheduler"]:
        return None
    return DaskOptions(values["scheduler"] or "", values["insecure_scheduler"], values["workers"])


def _judged(values: Mapping[str, Any], console: Console) -> FleetReport:
    """The report whose catalogs are to be published."""
    from commodore.clusters import merge_reports, read_report

    reports = [read_report(path) for path in values["from_report"]]
    return merge_reports(reports, console.context) if len(reports) > 1 else reports[0]


def _waves(values: Mapping[str, Any]) -> tuple[Wave, ...]:
    from commodore.clusters import ALL_CLUSTERS, allow_failures, canary, read_waves

    if values["waves"] and values["canary"] is not None:
        raise UsageError(
            "CMD-FLT-121", "--waves and --canary cannot be combined", hint="describe the canary in the file"
        )
    if values["wave_level"] is not None and not values["waves"]:
        raise UsageError("CMD-FLT-121", "wave-level needs --waves", hint="give it config/config.yaml of a fleet")
    waves = ALL_CLUSTERS
    if values["waves"]:
        waves = read_waves(values["waves"], values["wave_level"] or "", DEFAULT_LIMITS)
    elif values["canary"] is not None:  # an empty one, of a variable that is not set, is an error
        waves = canary(values["canary"])
    return waves if values["max_failures"] is None else allow_failures(waves, values["max_failures"])


def _pins(path: Path | None) -> Mapping[tuple[str, str], str]:
    from commodore.clusters import as_pins, read_report

    return as_pins(read_report(path).pins) if path is not None else {}


def _source(ctx: click.Context, values: Mapping[str, Any], console: Console, stack: ExitStack) -> FleetSource:
    """The source of the clusters."""
    from commodore.clusters import ApiFleet, read_cluster_files

    check_dynamic_facts(values["dynamic_fact"], ctx)
    facts = read_dynamic_facts(values["dynamic_fact"], console)
    if values["cluster_files"]:
        return read_cluster_files(values["cluster_files"], facts, console.context)
    if values["offline"]:
        raise UsageError(
            "CMD-FLT-118",
            "--offline needs the clusters from files",
            hint="give them with --cluster-file",
        )
    return ApiFleet(stack.enter_context(connect(ctx, dict(values), console)), facts)


def _asking(console: Console, *, ask: bool) -> Callable[[Wave, FleetReport], bool]:
    def judge(wave: Wave, report: FleetReport) -> bool:
        if not ask:
            return True
        with console.paused():
            _show(report, console, as_json=False)
            return click.confirm(f"Commit and push the catalogs of wave {printable(wave.name)}?", default=False)

    return judge


def _write(files: Iterable[tuple[str, Path]], whole: FleetReport, narrowed: FleetReport) -> None:
    """Write a report to files: as JSON in full, as Markdown the selected parts."""
    from commodore.base.files.workspace import write_atomically
    from commodore.clusters import render_markdown, report_bytes

    for form, file in files:
        write_atomically(file, report_bytes(whole) if form == "json" else render_markdown(narrowed).encode())


def _show(report: FleetReport, console: Console, *, as_json: bool, full: bool = False) -> None:
    from commodore.clusters import render_text

    if as_json:
        console.document("fleet-report", report)
        return
    for kind, text in render_text(report, full=full):
        [line] = paint([("remove" if kind == "error" else kind, text)])
        console.result(click.style(line, bold=True) if kind == "title" else line)


@click.command("report")
@click.argument("runs", nargs=-1, metavar="[RUN|FILE]...")
@options(*FLEET_REPORT)
@click.pass_context
def fleet_report(ctx: click.Context, /, runs: tuple[str, ...], **values: Any) -> None:
    """Show the report of RUN, which is the name of a run or a file, or of the newest run.

    Several are the reports of all shards of a fleet, and are shown as one.
    """
    from commodore.clusters import merge_reports, narrow_report, read_report, report_file

    console = console_of(ctx)
    paths = [Path(run) if run and Path(run).is_file() else report_file(working_dir(ctx), run) for run in runs or ("",)]
    reports = [read_report(path) for path in paths]
    merged = merge_reports(reports, console.context) if len(reports) > 1 else reports[0]
    report = narrow_report(
        merged,
        clusters=values["cluster"],
        group=values["group"],
        changed="changed" in values["state"],
        failed="failed" in values["state"],
    )
    as_json = values["output_format"] == "json"
    _write(values["report"], merged, report)
    _show(report, console, as_json=as_json, full=values["full"])
