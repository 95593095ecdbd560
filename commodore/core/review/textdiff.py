"""Unified diffs of texts, as lines with a style."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from commodore.base.limits import Limits

LineStyle = Literal["header", "hunk", "add", "remove", "context", "summary", "danger", "caution"]

CONTEXT: Final = 3


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff, without newline and colour: the caller adds colours.

    Attributes:
        style: `summary` is a sentence about a file; `danger` and `caution` are warnings; the others are the parts of a
            unified diff.
        text: the line with its leading `+`, `-` or blank. It may hold control characters of the compared files.
    """

    style: LineStyle
    text: str


class Change(NamedTuple):
    """Replaced neighbouring lines: start and end (exclusive), counted from zero, in both texts."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split_lines(text: str) -> list[str]:
    """Split a text into lines with their newlines; only newlines separate lines, as in git."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def changes(old: Sequence[str], new: Sequence[str], limits: Limits) -> list[Change] | None:
    """Return the replaced blocks of two texts, from top to bottom; None for more than `limits.diff_matches` allows to
    compare.
    """
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if _equal_pairs(old, new) > limits.diff_matches:
        return None
    opcodes = difflib.SequenceMatcher(None, old, new).get_opcodes()
    return [Change(*(line + start for line in lines)) for tag, *lines in opcodes if tag != "equal"]


def unified(
    old: Sequence[str], new: Sequence[str], differences: Sequence[Change], context: int = CONTEXT
) -> Iterator[DiffLine]:
    """Yield the lines of a unified diff, without its two header lines.

    Args:
        context: the number of unchanged lines around a change.
    """
    for hunk in _hunks(differences, context):
        before = min(context, hunk[0].old_start)
        after = min(context, len(old) - hunk[-1].old_end)
        old_span = _span(hunk[0].old_start - before, hunk[-1].old_end + after)
        new_span = _span(hunk[0].new_start - before, hunk[-1].new_end + after)
        yield DiffLine("hunk", f"@@ -{old_span} +{new_span} @@")
        position = hunk[0].old_start - before
        for change in hunk:
            yield from _lines("context", " ", old[position : change.old_start])
            yield from _lines("remove", "-", old[change.old_start : change.old_end])
            yield from _lines("add", "+", new[change.new_start : change.new_end])
            position = change.old_end
        yield from _lines("context", " ", old[position : position + after])


def diff_lines(old: str, new: str, limits: Limits, context: int = CONTEXT) -> Iterator[DiffLine]:
    """Yield the lines of a unified diff of two texts, without its two header lines; nothing for equal texts.

    With more differences than `limits.diff_matches` allows to compare, a sentence replaces them.
    """
    before, after = split_lines(old), split_lines(new)
    differences = changes(before, after, limits)
    if differences is None:
        yield DiffLine("summary", f"too many differences to show ({len(before)} lines became {len(after)})")
        return
    yield from unified(before, after, differences, context)


def _hunks(differences: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """Group changes whose contexts touch or overlap."""
    hunk: list[Change] = []
    for change in differences:
        if hunk and change.old_start - hunk[-1].old_end > 2 * context:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _lines(style: LineStyle, sign: str, lines: Sequence[str]) -> Iterator[DiffLine]:
    for line in lines:
        yield DiffLine(style, sign + line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield DiffLine("context", "\\ No newline at end of file")


def _span(start: int, end: int) -> str:
    """Return the range of a hunk: first line and count. A count of 1 is omitted; an empty range names the line before
    it.
    """
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _equal_pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """Estimate the work of a comparison. Very frequent lines are left out: SequenceMatcher ignores them."""
    counts = Counter(new)
    popular = len(new) // 100 + 1 if len(new) >= 200 else len(new)
    return sum(count for line in old if (count := counts.get(line, 0)) <= popular)
