"""The report as text and as Markdown: changes with their clusters, failures, and pushes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from commodore.base.printable import counted, in_markdown, printable_lines
from commodore.clusters.report.model import FleetReport
from commodore.core.review import COMMENT_BYTES, FileGroup, fenced, fit_blocks

_NAMED = 4
_LEFT_OUT_BYTES = 80
Line = tuple[str, str]
"""A kind of line, as in diffs (`add`, `header`) or `plain`, `title`, `error`; and its text."""


def render_text(report: FleetReport, *, full: bool = False) -> Iterator[Line]:
    """Return the lines of a report.

    Args:
        full: name all clusters of each group.
    """
    shown_states = Counter(cluster.state for cluster in report.clusters)
    totals = report.totals or shown_states
    size = sum(totals.values())
    some = f", {len(report.clusters)} of them shown" if len(report.clusters) < size else ""
    shard = f", shard {report.shard.index} of {report.shard.of}" if report.shard else ""
    states = ", ".join(f"{count} {state}" for state, count in shown_states.items())
    yield "title", f"Fleet of {counted(size, 'cluster')}{shard}{some}{f': {states}' if states else ''}"
    shown = groupby(report.groups, key=lambda group: group.clusters)
    for number, (_, groups) in enumerate(shown, start=1):
        yield from _groups(number, list(groups), report, full)
    yield from _errors(report)
    for wave in report.waves:
        if wave.reason:
            yield "error", f"Wave {wave.name}: {wave.reason}"
        if wave.state == "not-begun":
            yield "plain", f"Wave {wave.name} was not begun."
    if brought := sum(cluster.instances.remote for cluster in report.clusters):
        rendered = sum(cluster.instances.rendered for cluster in report.clusters)
        yield "plain", f"Instances: {rendered} rendered, {brought} from the remote cache."
    pushed = totals.get("pushed", 0)
    if not report.push:
        yield "plain", "Nothing was pushed: add --push to commit and push."
    else:
        yield "plain", f"Pushed: {pushed} of {size}." if pushed else "Nothing was pushed."


def _groups(number: int, groups: Sequence[FileGroup], report: FleetReport, full: bool) -> Iterator[Line]:
    differing = sorted({name for group in groups for name in group.differs_in})
    differs = f"; differs only in {', '.join(differing)}" if differing else ""
    examples = sorted({group.example for group in groups if group.differs_in and group.example})
    differs += f"; as in {' and '.join(examples)}" if examples else ""
    yield "title", f"{number}  in {_clusters(groups[0].clusters, report, full)}{differs}"
    for group in groups:
        for style, text in group.diff:
            yield style, f"     {text}"
        if group.left_out:
            yield "plain", f"     … {group.left_out} more lines"


def _clusters(ids: Sequence[str], report: FleetReport, full: bool) -> str:
    """Format clusters as `11 clusters of 12 (t-a 7, t-b 4)`, or as a few ids."""
    if full or len(ids) <= _NAMED:
        return ", ".join(ids)
    names = set(ids)
    tenants = Counter(cluster.tenant for cluster in report.clusters if cluster.id in names)
    counts = ", ".join(f"{tenant} {count}" for tenant, count in tenants.most_common())
    return f"{counted(len(names), 'cluster')} of {sum(report.totals.values()) or len(report.clusters)} ({counts})"


def _errors(report: FleetReport) -> Iterator[Line]:
    for error in report.errors:
        ids = error.clusters
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        yield "error", f"failed: {', '.join(ids[:_NAMED])}{more}"
        yield "plain", f"  error: {error.message} [{error.code}]"
        for location in error.locations:
            yield "plain", f"    at {location.place}"
        if error.hint:
            yield "plain", f"    hint: {error.hint}"


def render_markdown(report: FleetReport, budget: int = COMMENT_BYTES) -> str:
    """Render the report in at most `budget` bytes; sections that do not fit are omitted and counted."""
    lines = [(kind, printable_lines(text)) for kind, text in render_text(report)]
    blocks = []
    for is_plain, part in groupby(lines, key=lambda line: line[0] in ("plain", "title", "error")):
        texts = [text for _, text in part]
        blocks.append("\n".join(map(_escaped, texts)) if is_plain else fenced([_unindented(text) for text in texts]))
    shown, left_out = fit_blocks(((f"{block}\n\n",) for block in blocks), budget - _LEFT_OUT_BYTES)
    if left_out:
        shown.append(f"{len(left_out)} parts of the report are left out: there is no room for them.\n")
    return "".join(shown)


def _escaped(text: str) -> str:
    return "\n".join(f"{in_markdown(line)}  " for line in text.split("\n"))


def _unindented(line: str) -> str:
    return line.removeprefix("     ")
