"""Kept reports, and parts of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from commodore.base.errors import InputError, did_you_mean
from commodore.clusters.journal import list_runs, runs
from commodore.clusters.report.model import FleetReport


def report_file(root: Path, run: str) -> Path:
    """The report of a run below the working directory `root`; of the newest one with a report if `run` is empty.

    Raises:
        InputError: CMD-FLT-115, there is none.
    """
    known = [one for one in runs(root / "fleet") if one.report.is_file()]
    for one in known:
        if not run or one.name == run:
            return one.report
    what = f"there is no run {run!r} with a report" if run else "there is no run with a report"
    raise InputError("CMD-FLT-115", f"{what} below {root / 'fleet'}", hint=list_runs(known))


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
    if group is not None and group not in {one.example.id for one in report.groups}:
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
        if (left := [name for name in one.clusters if name in ids]) and group in (None, one.example.id)
    ]
    totals = Counter[str](one.state for one in report.clusters)
    return replace(report, clusters=tuple(kept), groups=tuple(groups), totals=totals)
