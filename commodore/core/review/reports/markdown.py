"""A review as Markdown within a number of bytes: for comments of pull requests."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from commodore.base.printable import in_markdown, only_printable, printable
from commodore.core.review.flags import Flag
from commodore.core.review.grouping import Group
from commodore.core.review.reviewing import Review
from commodore.core.review.shown import (
    change_lines,
    flag_objects,
    group_title,
    other_names,
    part_rows,
    same_flags,
    source_names,
    summary,
)

COMMENT_BYTES = 65_536
"""What forges take as a comment."""
LEAST_BYTES = 4_096
"""What the summary and the line about what is left out need at the most."""
_CELL = 160


def markdown_report(review: Review, *, title: str = "Changes", budget: int = COMMENT_BYTES, whole: str = "") -> str:
    """The summary, a table of dangers, then groups of changes: the most dangerous first, each in full or not at all.

    Args:
        title: the heading.
        budget: bytes of UTF-8 that the report may have, at least `LEAST_BYTES`.
        whole: where the whole report is, a URL or any text; named if something is left out.

    Returns:
        The report. What does not fit is counted by its kind, never passed over in silence.

    Raises:
        ValueError: the budget is less than `LEAST_BYTES`.
    """
    if budget < LEAST_BYTES:
        raise ValueError(f"a report needs {LEAST_BYTES} bytes at least")
    head = f"## {_plain(title, 60)}\n\n{_plain(summary(review), 400)}\n"
    left = budget - _size(head) - _size(_left_out(review.groups, review.flags, whole))
    parts = [head]
    applications = _part_table(review, left // 4)
    parts.append(applications)
    left -= _size(applications)
    table, left_flags = _flag_table(review.flags, left // 2)
    parts.append(table)
    left -= _size(table)
    texts, short = fit_blocks(((_group(one), _folded(one)) for one in review.groups), left)
    if short or left_flags:
        texts.append(_left_out([review.groups[number] for number in short], left_flags, whole))
    return "".join([*parts, *texts])


def fit_blocks(blocks: Iterable[Sequence[str]], budget: int) -> tuple[list[str], list[int]]:
    """Take of each block the first form that still fits into a number of bytes, or nothing.

    Returns:
        the texts, and the numbers of the blocks that are not there in their first form.
    """
    texts, short = [], []
    for number, forms in enumerate(blocks):
        text = next((form for form in forms if _size(form) <= budget), "")
        budget -= _size(text)
        texts.append(text)
        if text != forms[0]:
            short.append(number)
    return texts, short


def fenced(lines: Sequence[str]) -> str:
    """Lines of a diff as a block of code that none of them can end."""
    body = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{fence}diff\n{body}\n{fence}"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _part_table(review: Review, budget: int) -> str:
    """A table of the Applications, as many as fit, and how many do not."""
    text = "\n| Application | Objects |\n|---|---|\n"
    for number, (name, said) in enumerate(part_rows(review)):
        row = f"| {_cell(name)} | {_cell(said)} |\n"
        rest = f"| {len(review.parts) - number} more | |\n"
        if _size(text) + _size(row) + _size(rest) > budget:
            return text + rest
        text += row
    return text if review.parts else ""


def _flag_table(flags: Sequence[Flag], budget: int) -> tuple[str, list[Flag]]:
    """A table of the first dangers, as many as fit, and those that do not."""
    text = "\n| Danger | Objects | |\n|---|---|---|\n"
    groups = same_flags(flags)
    for rows, same in enumerate(groups):
        name = f"**{same[0].name}** ({same[0].severity})"
        row = f"| {name} | {_cell(flag_objects(same))} | {_cell(same[0].message)} |\n"
        if _size(text) + _size(row) > budget:
            return (text if rows else ""), [flag for rest in groups[rows:] for flag in rest]
        text += row
    return (text if groups else ""), []


def _cell(text: str) -> str:
    return _plain(text, _CELL)


def _plain(text: str, most: int) -> str:
    """Text from outside in which nothing is Markdown, HTML or a mention."""
    text = only_printable(printable(text), "?")
    text = text if len(text) <= most else f"{text[:most]}…"
    return in_markdown(text)


def _group(one: Group) -> str:
    lines = [line.text for line in change_lines(one)]
    also = "".join(
        f"\n{word} {_plain(names, 2000)}\n"
        for word, names in (("in", source_names(one, 20)), ("also", other_names(one, 20)))
        if names
    )
    block = f"\n{fenced(lines)}\n" if lines else ""
    return f"\n<details><summary>{_title(one)}</summary>\n{also}{block}\n</details>\n"


def _folded(one: Group) -> str:
    return f"\n{_title(one)} (not shown here)\n"


def _title(one: Group) -> str:
    names = Counter(flag.name for flag in one.flags)
    flags = "".join(f" ⚠ {name}" for name in names)
    text = only_printable(printable(group_title(one)), "?")
    text = text if len(text) <= 300 else f"{text[:300]}…"
    return f"<code>{html.escape(text)}</code>{flags}"


_URL = re.compile(r"https?://[\w.~:/?#@!$&'()*+,;=%-]+")


def _link(text: str) -> str:
    return f"<{text}>" if len(text) <= 500 and _URL.fullmatch(text) else _plain(text, 200)


def _left_out(groups: Sequence[Group], flags: Sequence[Flag], whole: str) -> str:
    """What is not in the report, in numbers. Never longer than for everything."""
    kinds = Counter(change.kind for one in groups for change in one.changes)
    parts = [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    names = Counter(flag.name for flag in flags)
    said = f"objects {', '.join(parts)}" if parts else ""
    if names:
        said += f"{'; ' if said else ''}dangers {', '.join(f'{count} {name}' for name, count in names.items())}"
    where = f" The whole report: {_link(whole)}" if whole else ""
    return f"\n**Not everything fits here.** In full or in part left out: {said}.{where}\n" if said else ""
