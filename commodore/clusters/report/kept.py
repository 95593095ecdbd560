"""Reports that were written before: read, merged, narrowed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InputError, did_you_mean
from commodore.base.events import Warned
from commodore.base.files.workspace import guard_disk
from commodore.clusters.journal import list_runs, runs
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.report.model import VERSION, FleetReport, WaveResult, pins_of
from commodore.core.review import FileGroup, merge_groups

_STATES = ("failed", "refused", "interrupted", "not-begun", "compiled", "published")
"""States of waves, the worst first: that of a merged wave is the worst of its shards."""


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
        data = json.loads(text)
        if data["version"] != VERSION:
            raise ValueError(data["version"])
        return _parse(data, path.parent)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            "CMD-FLT-113",
            f"{path} is no report of a fleet",
            hint="name a file that `fleet compile --report` has written",
            locations=[str(path)],
        ) from None


def _parse(data: Mapping[str, Any], folder: Path) -> FleetReport:
    shard = data["shard"]
    return FleetReport(
        run=data["run"],
        started=data["started"],
        finished=data["finished"],
        commodore=data["commodore"],
        digest=data["options_digest"],
        planned=int(data["planned"]),
        push=bool(data["push"]),
        shard=None if shard is None else (int(shard["index"]), int(shard["of"])),
        pins=tuple({key: str(pin[key]) for key in ("url", "ref", "commit")} for pin in data["pins"]),
        waves=tuple(WaveResult(wave["name"], wave["state"], wave["reason"], wave) for wave in data["waves"]),
        clusters=tuple(map(_parse_cluster, data["clusters"])),
        groups=tuple(map(FileGroup.parse, data["groups"])),
        folder=folder,
    )


def _parse_cluster(data: Mapping[str, Any]) -> ClusterOutcome:
    error = data["error"]
    plain = {key: data[key] for key in ("id", "display_name", "tenant", "wave", "state", "attempts", "seconds")}
    plain |= {key: data[key] for key in ("tree", "base_commit", "commit", "summary", "groups", "notices")}
    failure = None if error is None else {"error": error, "exit_code": int(error["exit_code"])}
    instances = data["instances"]
    plain |= {"rendered": instances["rendered"], "reused": instances["reused"], "brought": instances.get("remote", 0)}
    return ClusterOutcome.parse({**plain, "failure": failure})


def merge_reports(reports: Sequence[FleetReport], context: Context) -> FleetReport:
    """One report of all shards of one plan, whatever their order.

    Raises:
        InputError: CMD-FLT-122, they are not all the shards of one plan.
    """
    ordered = sorted(reports, key=lambda report: report.shard or (0, 0))
    first = ordered[0]
    plan = {(one.digest, one.planned, one.commodore, one.shard and one.shard[1]) for one in ordered}
    if len(plan) != 1:
        raise _wrong("they are of different options, clusters or versions of commodore")
    of = first.shard[1] if first.shard else 0
    if [one.shard and one.shard[0] for one in ordered] != list(range(1, of + 1)):
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
        digest=first.digest,
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
            url, ref, commit = pin["url"], pin["ref"], pin["commit"]
            if found.setdefault((url, ref), commit) != commit:
                context.announce(
                    Warned(
                        "CMD-FLT-114",
                        f"{ref} of {url} was {found[url, ref]} in one shard and {commit} in another",
                        hint="give all shards the pins of one report with --pins",
                    )
                )
    return found


def _wave(results: Sequence[WaveResult]) -> WaveResult:
    return min(results, key=lambda one: _STATES.index(one.state) if one.state in _STATES else len(_STATES))


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
