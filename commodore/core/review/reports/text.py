"""A review as lines of text: for a terminal, a log, a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from commodore.core.review.flags import Flag
from commodore.core.review.grouping import Group
from commodore.core.review.reviewing import Review
from commodore.core.review.shown import (
    change_lines,
    flag_name,
    flag_objects,
    group_title,
    other_names,
    part_rows,
    same_flags,
    source_names,
    summary,
)
from commodore.core.review.textdiff import DiffLine, LineStyle

_NAME_WIDTH = 40
_WHOLE_LINES = 12
_CHANGED_LINES = 60
"""Lines of an object that are shown if reports are folded: of one that comes or goes, of one that changes."""


def text_report(review: Review, *, folded: bool = False) -> Iterator[DiffLine]:
    """The summary, the dangers, then each group of equal changes, of which the first is shown.

    Lines hold no control characters. Nothing for a review without changes but the summary.

    Args:
        folded: show only the first lines of long changes, and how many more there are.
    """
    yield DiffLine("summary", summary(review))
    rows = list(part_rows(review))
    width = min(max((len(name) for name, _ in rows), default=0), _NAME_WIDTH)
    for name, said in rows:
        yield DiffLine("context", f"  {name.ljust(width)}  {said}")
    for same in same_flags(review.flags):
        yield DiffLine(_style(same[0]), f"! {flag_name(same[0])}: {flag_objects(same)}")
    for group in review.groups:
        yield DiffLine("summary", "")
        yield DiffLine("header", group_title(group))
        if names := source_names(group):
            yield DiffLine("context", f"  in {names}")
        if names := other_names(group):
            yield DiffLine("context", f"  also {names}")
        if group.flags:
            names = ", ".join(dict.fromkeys(flag.name for flag in group.flags))
            yield DiffLine(_style(group.flags[0]), f"  ! {names}")
        yield from _body(group, folded=folded)


def _style(flag: Flag) -> LineStyle:
    return "caution" if flag.severity == "medium" else "danger"


def _body(one: Group, *, folded: bool) -> Iterator[DiffLine]:
    change = one.changes[0]
    lines = [DiffLine(line.style, f"    {line.text}") for line in change_lines(one)]
    most = _WHOLE_LINES if change.kind in ("added", "removed") else _CHANGED_LINES
    if not folded or len(lines) <= most + 1:
        yield from lines
        return
    yield from lines[:most]
    yield DiffLine("context", f"    … {len(lines) - most} more lines")
