"""A review as lines of text, for terminals, logs and pipes."""

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
"""The most lines of an object in folded reports: of an added or removed object, of a changed one."""


def text_report(review: Review, *, folded: bool = False) -> Iterator[DiffLine]:
    """Yield the summary, the dangers, then each group of equal changes with its first change.

    Lines hold no control characters. A review without changes is its summary only.

    Args:
        folded: show only the first lines of long changes, and the number of further lines.
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


def _body(group: Group, *, folded: bool) -> Iterator[DiffLine]:
    change = group.changes[0]
    lines = [DiffLine(line.style, f"    {line.text}") for line in change_lines(group)]
    most = _WHOLE_LINES if change.kind in ("added", "removed") else _CHANGED_LINES
    if not folded or len(lines) <= most + 1:
        yield from lines
        return
    yield from lines[:most]
    yield DiffLine("context", f"    … {len(lines) - most} more lines")
