"""The unified diff of two texts, as lines that know what they are."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from commodore.limits import Limits

LineStyle = Literal["header", "hunk", "add", "remove", "context", "summary"]

CONTEXT: Final = 3


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff, without newline and without colour: that is for whoever prints it.

    Attributes:
        style: `summary` is a sentence about a file; the others are the parts of a unified diff.
        text: the line with its leading `+`, `-` or blank. It may hold control characters of the compared files.
    """

    style: LineStyle
    text: str


#: Where lines differ: what is to be done, first and last+1 line of the old, the same of the new text.
Opcode = tuple[str, int, int, int, int]


def split_lines(text: str) -> list[str]:
    """The lines of a text with their newlines; only newlines part them, as in git."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def hunks(old: Sequence[str], new: Sequence[str], limits: Limits) -> list[list[Opcode]] | None:
    """Groups of neighbouring differences with their context, none for equal texts; None for more than is compared."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start == len(old) == len(new):
        return []
    # What is equal at both ends is left out, except for the lines that are shown as context.
    start = max(0, start - CONTEXT)
    end = max(0, end - CONTEXT)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if _equal_pairs(old, new) > limits.diff_matches:
        return None
    groups = difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT)
    return [[(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group] for group in groups]


def unified(old: Sequence[str], new: Sequence[str], groups: list[list[Opcode]]) -> Iterator[DiffLine]:
    """The lines of a unified diff, without its two header lines."""
    for group in groups:
        first, last = group[0], group[-1]
        yield DiffLine("hunk", f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@")
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from _lines("context", " ", old[old_start:old_end])
            else:
                yield from _lines("remove", "-", old[old_start:old_end])
                yield from _lines("add", "+", new[new_start:new_end])


def _lines(style: LineStyle, sign: str, lines: Sequence[str]) -> Iterator[DiffLine]:
    for line in lines:
        yield DiffLine(style, sign + line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield DiffLine("context", "\\ No newline at end of file")


def _span(start: int, end: int) -> str:
    """The lines of a hunk: first line and count. A count of one is left out; an empty span names the line before it."""
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _equal_pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """How much work the comparison is. Very frequent lines are left out: SequenceMatcher does not look at them."""
    counts = Counter(new)
    popular = len(new) // 100 + 1 if len(new) >= 200 else len(new)
    return sum(count for line in old if (count := counts.get(line, 0)) <= popular)
