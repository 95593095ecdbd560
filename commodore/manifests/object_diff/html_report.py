"""A review as one HTML file: nothing is fetched, all of it is text, and what is not opened is not laid out."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import Any

from commodore.manifests.object_diff.grouping import Group
from commodore.manifests.object_diff.review import Review
from commodore.manifests.object_diff.shown import change_lines, group_title, object_name, others_of, part_rows, summary
from commodore.printable import printable

_TEMPLATE = "templates/diff-report.html"


def html_report(review: Review, *, title: str = "Changes") -> str:
    """The report as the text of an HTML file. The groups' lines are in it once, as data."""
    data = json.dumps([_group(one) for one in review.groups], ensure_ascii=True, separators=(",", ":"))
    parts = {
        "%TITLE%": html.escape(printable(title)),
        "%SUMMARY%": html.escape(summary(review)),
        "%PARTS%": _parts(review),
        "%DATA%": data.replace("<", "\\u003c"),  # nothing in it can end the element
    }
    page = (resources.files("commodore") / _TEMPLATE).read_text(encoding="utf-8")
    head, _, rest = page.partition("%DATA%")
    for mark in ("%TITLE%", "%SUMMARY%", "%PARTS%"):
        head = head.replace(mark, parts[mark])
    return head + parts["%DATA%"] + rest


def _parts(review: Review) -> str:
    """The table of Applications, closed until it is asked for."""
    if not review.parts:
        return ""
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(said)}</td></tr>" for name, said in part_rows(review)
    )
    return f"<details><summary>{len(review.parts)} Applications</summary><table>{rows}</table></details>"


def _group(one: Group) -> dict[str, Any]:
    flags = {flag.name: flag.severity for flag in one.flags}
    return {
        "title": group_title(one),
        "places": list(map(printable, one.sources)) if len(one.sources) > 1 else [],
        "also": list(map(object_name, others_of(one))),
        "flags": list(flags.items()),
        "dangers": list(dict.fromkeys(printable(f"{flag.name}: {flag.message}") for flag in one.flags)),
        "lines": [[line.style, line.text] for line in change_lines(one.changes[0])],
    }
