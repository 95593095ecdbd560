"""A review as Markdown of limited size, for comments of pull requests."""

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
"""The size limit of comments of forges."""
LEAST_BYTES = 4_096
"""The greatest size of the summary and the line about omissions."""
_CELL = 160


def markdown_report(review: Review, *, title: str = "Changes", budget: int = COMMENT_BYTES, whole: str = "") -> str:
    """Return the summary, a table of dangers, and groups of changes: the most dangerous first, each in full or not at
    all.

    Args:
        title: the heading.
        budget: the greatest size in bytes of UTF-8, at least `LEAST_BYTES`.
        whole: the place of the whole report, a URL or any text; printed if something is left out.

    Returns:
        The report. Omissions are counted by kind.

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
    texts, short = fit_blocks(((_group(group), _folded(group)) for group in review.groups), left)
    if short or left_flags:
        texts.append(_left_out([review.groups[number] for number in short], left_flags, whole))
    return "".join([*parts, *texts])


def fit_blocks(blocks: Iterable[Sequence[str]], budget: int) -> tuple[list[str], list[int]]:
    """Choose for each block the first form that fits into the rest of a number of bytes, or nothing.

    Returns:
        the texts, and the indices of the blocks that are not in their first form.
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
    """Return lines of a diff as a code block, with a fence that no line can end."""
    body = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{fence}diff\n{body}\n{fence}"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _part_table(review: Review, budget: int) -> str:
    """Return a table of the Applications that fit, with the number of the others."""
    text = "\n| Application | Objects |\n|---|---|\n"
    for number, (name, said) in enumerate(part_rows(review)):
        row = f"| {_cell(name)} | {_cell(said)} |\n"
        rest = f"| {len(review.parts) - number} more | |\n"
        if _size(text) + _size(row) + _size(rest) > budget:
            return text + rest
        text += row
    return text if review.parts else ""


def _flag_table(flags: Sequence[Flag], budget: int) -> tuple[str, list[Flag]]:
    """Return a table of the first dangers that fit, and the other dangers."""
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
    """Escape text so that nothing in it is Markdown, HTML or a mention."""
    text = only_printable(printable(text), "?")
    text = text if len(text) <= most else f"{text[:most]}…"
    return in_markdown(text)


def _group(group: Group) -> str:
    lines = [line.text for line in change_lines(group)]
    also = "".join(
        f"\n{word} {_plain(names, 2000)}\n"
        for word, names in (("in", source_names(group, 20)), ("also", other_names(group, 20)))
        if names
    )
    block = f"\n{fenced(lines)}\n" if lines else ""
    return f"\n<details><summary>{_title(group)}</summary>\n{also}{block}\n</details>\n"


def _folded(group: Group) -> str:
    return f"\n{_title(group)} (not shown here)\n"


def _title(group: Group) -> str:
    names = Counter(flag.name for flag in group.flags)
    flags = "".join(f" ⚠ {name}" for name in names)
    text = only_printable(printable(group_title(group)), "?")
    text = text if len(text) <= 300 else f"{text[:300]}…"
    return f"<code>{html.escape(text)}</code>{flags}"


_URL = re.compile(r"https?://[\w.~:/?#@!$&'()*+,;=%-]+")


def _link(text: str) -> str:
    return f"<{text}>" if len(text) <= 500 and _URL.fullmatch(text) else _plain(text, 200)


def _left_out(groups: Sequence[Group], flags: Sequence[Flag], whole: str) -> str:
    """Return a line with the counts of omissions. Never longer than for everything."""
    kinds = Counter(change.kind for group in groups for change in group.changes)
    parts = [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    names = Counter(flag.name for flag in flags)
    said = f"objects {', '.join(parts)}" if parts else ""
    if names:
        said += f"{'; ' if said else ''}dangers {', '.join(f'{count} {name}' for name, count in names.items())}"
    where = f" The whole report: {_link(whole)}" if whole else ""
    return f"\n**Not everything fits here.** In full or in part left out: {said}.{where}\n" if said else ""
