"""Stored reports: reading, merging and filtering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from commodore.base.context import Context
from commodore.base.document_reading import read_document
from commodore.base.errors import InputError, did_you_mean
from commodore.base.events import Warned
from commodore.base.files.workspace import guard_disk
from commodore.clusters.journal import list_runs, runs
from commodore.clusters.report.model import REPORT, FleetReport, WaveResult, WaveState, pins_of
from commodore.core.review import merge_groups

_STATES: tuple[WaveState, ...] = get_args(WaveState)
"""From worst to best: the state of a merged wave is the worst of its shards."""


def report_file(root: Path, run: str) -> Path:
    """Return the report of a run below the working directory `root`; without `run`, of the newest run with a report.

    Raises:
        InputError: CMD-FLT-115, no such report.
    """
    known = [entry for entry in runs(root / "fleet") if entry.report.is_file()]
    for item in known:
        if not run or item.name == run:
            return item.report
    what = f"there is no run {run!r} with a report" if run else "there is no run with a report"
    raise InputError("CMD-FLT-115", f"{what} below {root / 'fleet'}", hint=list_runs(known))


def read_report(path: Path) -> FleetReport:
    """Read a stored report.

    Raises:
        EnvironmentFault: it cannot be read.
        InputError: CMD-FLT-113, it is not a report.
    """
    with guard_disk(path):
        text = path.read_bytes()
    try:
        return replace(read_document(REPORT, FleetReport, text), folder=path.parent)
    except (ValueError, TypeError, RecursionError):
        raise InputError(
            "CMD-FLT-113",
            f"{path} is not a fleet report",
            hint="pass a file written by `fleet compile --report` of this version",
            locations=[str(path)],
        ) from None


def merge_reports(reports: Sequence[FleetReport], context: Context) -> FleetReport:
    """Merge the reports of all shards of one plan, in any order.

    Raises:
        InputError: CMD-FLT-122, they are not all the shards of one plan.
    """
    ordered = sorted(reports, key=lambda report: report.shard.index if report.shard else 0)
    first = ordered[0]
    plan = {(item.options_digest, item.planned, item.commodore, item.shard and item.shard.of) for item in ordered}
    if len(plan) != 1:
        raise _wrong("they are of different options, clusters or versions of commodore")
    of = first.shard.of if first.shard else 0
    if [item.shard and item.shard.index for item in ordered] != list(range(1, of + 1)):
        raise _wrong(f"there must be one report of each of {of} shards" if of else "they are not reports of shards")
    clusters = sorted((cluster for report in ordered for cluster in report.clusters), key=lambda item: item.id)
    ids = [cluster.id for cluster in clusters]
    if len(set(ids)) != len(ids) or len(ids) != first.planned:
        raise _wrong(f"they have {len(set(ids))} of {first.planned} clusters")
    return FleetReport(
        run=first.run,
        started=min(item.started for item in ordered),
        finished=max(item.finished for item in ordered),
        commodore=first.commodore,
        options_digest=first.options_digest,
        planned=first.planned,
        push=first.push,
        shard=None,
        pins=pins_of(_pins(ordered, context)),
        waves=tuple(_wave([report.waves[index] for report in ordered]) for index in range(len(first.waves))),
        clusters=tuple(clusters),
        groups=merge_groups(report.groups for report in ordered),
    )


def _pins(reports: Sequence[FleetReport], context: Context) -> dict[tuple[str, str], str]:
    """Return the pins of all shards; the first shard takes precedence."""
    pins: dict[tuple[str, str], str] = {}
    for report in reports:
        for pin in report.pins:
            url, ref, commit = pin.url, pin.ref, pin.commit
            first = pins.setdefault((url, ref), commit)
            if first != commit:
                context.announce(
                    Warned(
                        "CMD-FLT-114",
                        f"{ref} of {url} was {first} in one shard and {commit} in another",
                        hint="give all shards the pins of one report with --pins",
                    )
                )
    return pins


def _wave(results: Sequence[WaveResult]) -> WaveResult:
    return min(results, key=lambda result: _STATES.index(result.state))


def _wrong(why: str) -> InputError:
    return InputError(
        "CMD-FLT-122",
        f"the reports cannot be merged: {why}",
        hint="give the reports of all shards of one fleet, compiled with the same options",
    )


def narrow_report(
    report: FleetReport, *, clusters: Collection[str], group: str | None, changed: bool, failed: bool
) -> FleetReport:
    """Filter a report by cluster ids, group of equal changes, changed or failed clusters. Its totals are unchanged.

    Raises:
        InputError: CMD-FLT-100, the report has no such cluster; CMD-FLT-120, no such group.
    """
    known = {cluster.id for cluster in report.clusters}
    for name in clusters:
        if name not in known:
            raise InputError("CMD-FLT-100", f"there is no cluster {name!r}", hint=did_you_mean(name, known))
    if group is not None and group not in {item.id for item in report.groups}:
        raise InputError(
            "CMD-FLT-120", f"the report has no group {group!r}", hint="`fleet report -o json` lists them as `groups`"
        )
    kept = [
        cluster
        for cluster in report.clusters
        if (not clusters or cluster.id in clusters)
        and (group is None or group in cluster.groups)
        and (not changed or cluster.groups or cluster.state == "changed")
        and (not failed or cluster.has_failed)
    ]
    ids = {item.id for item in kept}
    groups = [
        replace(item, clusters=left)
        for item in report.groups
        if (left := [name for name in item.clusters if name in ids]) and group in (None, item.id)
    ]
    totals = Counter[str](cluster.state for cluster in report.clusters)
    return replace(report, clusters=tuple(kept), groups=tuple(groups), totals=totals)
