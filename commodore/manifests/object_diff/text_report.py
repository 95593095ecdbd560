"""A review as lines of text: for a terminal, a log, a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from commodore.manifests._textdiff import DiffLine
from commodore.manifests.object_diff.review import Review
from commodore.manifests.object_diff.shown import change_lines, group_title, object_name, other_names, summary
from commodore.printable import printable


def text_report(review: Review) -> Iterator[DiffLine]:
    """The summary, the dangers, then each group of equal changes, of which the first is shown in full.

    Lines hold no control characters. Nothing for a review without changes but the summary.
    """
    yield DiffLine("summary", summary(review))
    for flag in review.flags:
        yield DiffLine("remove", f"! {flag.severity}: {flag.name}: {object_name(flag.key)}: {printable(flag.message)}")
    for one in review.groups:
        yield DiffLine("summary", "")
        yield DiffLine("header", group_title(one))
        if names := other_names(one):
            yield DiffLine("context", f"  also {names}")
        for line in change_lines(one.changes[0]):
            yield DiffLine(line.style, f"    {line.text}")
