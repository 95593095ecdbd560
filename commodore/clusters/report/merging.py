"""The reports of all shards of a fleet as one."""

from __future__ import annotations

from collections.abc import Sequence

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import Warned
from commodore.clusters.report.model import FleetReport, WaveResult, pins_of
from commodore.core.review.hunk_groups import Group, in_order

_STATES = ("failed", "refused", "interrupted", "not-begun", "compiled", "published")
"""States of waves, the worst first: that of a merged wave is the worst of its shards."""


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
        groups=_groups(ordered),
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


def _groups(reports: Sequence[FleetReport]) -> tuple[Group, ...]:
    """The groups of all shards; the example is that of the shard with the first cluster."""
    found: dict[str, list[Group]] = {}
    for report in reports:
        for group in report.groups:
            found.setdefault(group.example.id, []).append(group)
    merged = []
    for same in found.values():
        first, *others = sorted(same, key=lambda group: min(group.clusters))
        made = Group(first.example, list(first.clusters), set(first.differing), first.cluster)
        for other in others:
            made.absorb(other)
        made.clusters.sort()
        merged.append(made)
    return in_order(merged)


def _wrong(why: str) -> InputError:
    return InputError(
        "CMD-FLT-122",
        f"the reports cannot be merged: {why}",
        hint="give the reports of all shards of one fleet, compiled with the same options",
    )
