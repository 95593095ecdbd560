"""Reports that were written before: read, merged, narrowed."""

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
"""The worst first: that of a merged wave is the worst of its shards."""


def report_file(root: Path, run: str) -> Path:
    """The report of a run below the working directory `root`; of the newest one with a report if `run` is empty.

    Raises:
        InputError: CMD-FLT-115, there is no such report.
    """
    known = [one for one in runs(root / "fleet") if one.report.is_file()]
    for one in known:
        if not run or one.name == run:
            return one.report
    what = f"there is no run {run!r} with a report" if run else "there is no run with a report"
    raise InputError("CMD-FLT-115", f"{what} below {root / 'fleet'}", hint=list_runs(known))


def read_report(path: Path) -> FleetReport:
    """A report that was written before.

    Raises:
        EnvironmentFault: it cannot be read.
        InputError: CMD-FLT-113, it is no report.
    """
    with guard_disk(path):
        text = path.read_bytes()
    try:
        return replace(read_document(REPORT, FleetReport, text), folder=path.parent)
    except (ValueError, TypeError, RecursionError):
        raise InputError(
            "CMD-FLT-113",
            f"{path} is no report of a fleet",
            hint="name a file that `fleet compile --report` of this version has written",
            locations=[str(path)],
        ) from None


def merge_reports(reports: Sequence[FleetReport], context: Context) -> FleetReport:
    """One report of all shards of one plan, whatever their order.

    Raises:
        InputError: CMD-FLT-122, they are not all the shards of one plan.
    """
    ordered = sorted(reports, key=lambda report: report.shard.index if report.shard else 0)
    first = ordered[0]
    plan = {(one.options_digest, one.planned, one.commodore, one.shard and one.shard.of) for one in ordered}
    if len(plan) != 1:
        raise _wrong("they are of different options, clusters or versions of commodore")
    of = first.shard.of if first.shard else 0
    if [one.shard and one.shard.index for one in ordered] != list(range(1, of + 1)):
        raise _wrong(f"there must be one report of each of {of} shards" if of else "they are of no shards")
    clusters = sorted((one for report in ordered for one in report.clusters), key=lambda one: one.id)
    ids = [one.id for one in clusters]
    if len(set(ids)) != len(ids) or len(ids) != first.planned:
        raise _wrong(f"they have {len(set(ids))} of {first.planned} clusters")
    return FleetReport(
        run=first.run,
        started=min(one.started for one in ordered),
        finished=max(one.finished for one in ordered),
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
    """The pins of all shards; where two differ, that of the first shard."""
    found: dict[tuple[str, str], str] = {}
    for report in reports:
        for pin in report.pins:
            url, ref, commit = pin.url, pin.ref, pin.commit
            first = found.setdefault((url, ref), commit)
            if first != commit:
                context.announce(
                    Warned(
                        "CMD-FLT-114",
                        f"{ref} of {url} was {first} in one shard and {commit} in another",
                        hint="give all shards the pins of one report with --pins",
                    )
                )
    return found


def _wave(results: Sequence[WaveResult]) -> WaveResult:
    return min(results, key=lambda one: _STATES.index(one.state))


def _wrong(why: str) -> InputError:
    return InputError(
        "CMD-FLT-122",
        f"the reports cannot be merged: {why}",
        hint="give the reports of all shards of one fleet, compiled with the same options",
    )


def narrow_report(
    report: FleetReport, *, clusters: Collection[str], group: str | None, changed: bool, failed: bool
) -> FleetReport:
    """The report of some clusters: of these, of those that have a change in common, that change, or have failed. Its
    totals are those of the run.

    Raises:
        InputError: CMD-FLT-100, the report has no such cluster; CMD-FLT-120, no such group.
    """
    known = {one.id for one in report.clusters}
    for name in clusters:
        if name not in known:
            raise InputError("CMD-FLT-100", f"there is no cluster {name!r}", hint=did_you_mean(name, known))
    if group is not None and group not in {one.id for one in report.groups}:
        raise InputError(
            "CMD-FLT-120", f"the report has no group {group!r}", hint="`fleet report -o json` lists them as `groups`"
        )
    kept = [
        one
        for one in report.clusters
        if (not clusters or one.id in clusters)
        and (group is None or group in one.groups)
        and (not changed or one.groups or one.state == "changed")
        and (not failed or one.has_failed)
    ]
    ids = {one.id for one in kept}
    groups = [
        replace(one, clusters=left)
        for one in report.groups
        if (left := [name for name in one.clusters if name in ids]) and group in (None, one.id)
    ]
    totals = Counter[str](one.state for one in report.clusters)
    return replace(report, clusters=tuple(kept), groups=tuple(groups), totals=totals)
