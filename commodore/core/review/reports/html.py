"""A review as a single HTML file: it fetches nothing, holds texts only, and lays out details when they are opened."""

from __future__ import annotations

import html
import itertools
import json
from importlib import resources
from typing import Any

from commodore.base.printable import printable
from commodore.core.review.grouping import Group
from commodore.core.review.reviewing import Review
from commodore.core.review.shown import change_lines, group_title, object_name, others_of, part_rows, summary

_TEMPLATE = "templates/diff-report.html"
_FEW_PARTS = 8


def html_report(review: Review, *, title: str = "Changes") -> str:
    """Return the report as an HTML file. The groups' lines are included once, as data."""
    data = json.dumps([_group(group) for group in review.groups], ensure_ascii=True, separators=(",", ":"))
    parts = {
        "%TITLE%": html.escape(printable(title)),
        "%SUMMARY%": html.escape(summary(review)),
        "%PARTS%": _parts(review),
        "%DATA%": data.replace("<", "\\u003c"),  # so that no text can end the element
    }
    page = (resources.files("commodore") / _TEMPLATE).read_text(encoding="utf-8")
    head, _, rest = page.partition("%DATA%")
    for mark in ("%TITLE%", "%SUMMARY%", "%PARTS%"):
        head = head.replace(mark, parts[mark])
    return head + parts["%DATA%"] + rest


def _parts(review: Review) -> str:
    """Return the table of Applications, unknown ones first; a long table is folded unless some are unknown."""
    if not review.parts:
        return ""
    sorted_rows = sorted(part_rows(review), key=lambda row: not row[0].startswith("?"))
    rows = "".join(itertools.starmap(_row, sorted_rows))
    unknown = any(part.state == "unknown" for part in review.parts)
    opened = " open" if unknown or len(review.parts) <= _FEW_PARTS else ""
    title = f"{len(review.parts)} Application{'s' if len(review.parts) > 1 else ''}"
    return f'<details{opened}><summary>{title}</summary><div id="parts"><table>{rows}</table></div></details>'


def _row(name: str, said: str) -> str:
    """Return a row of the table: selecting the Application filters the changes by it."""
    sign, _, rest = name.partition(" ")
    kind = ' class="unknown"' if sign == "?" else ""
    button = f'<button class="app" type="button" value="{html.escape(rest)}">{html.escape(rest)}</button>'
    return f"<tr{kind}><td>{html.escape(sign)}&nbsp;{button}</td><td>{html.escape(said)}</td></tr>"


def _group(group: Group) -> dict[str, Any]:
    flags = {flag.name: flag.severity for flag in group.flags}
    return {
        "title": group_title(group),
        "apps": list(map(printable, group.sources)),
        "also": list(map(object_name, others_of(group))),
        "flags": list(flags.items()),
        "dangers": list(dict.fromkeys(printable(f"{flag.name}: {flag.message}") for flag in group.flags)),
        "lines": [[line.style, line.text] for line in change_lines(group)],
    }
