"""A review as one HTML file: nothing is fetched, all of it is text, and what is not opened is not laid out."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import Any

from commodore.manifests.object_diff.grouping import Group
from commodore.manifests.object_diff.review import Review
from commodore.manifests.object_diff.shown import change_lines, group_title, object_name, summary
from commodore.printable import printable

_TEMPLATE = "templates/diff-report.html"


def html_report(review: Review, *, title: str = "Changes") -> str:
    """The report as the text of an HTML file. The groups' lines are in it once, as data."""
    data = json.dumps([_group(one) for one in review.groups], ensure_ascii=True, separators=(",", ":"))
    parts = {
        "%TITLE%": html.escape(printable(title)),
        "%SUMMARY%": html.escape(summary(review)),
        "%DATA%": data.replace("<", "\\u003c"),  # nothing in it can end the element
    }
    page = (resources.files("commodore") / _TEMPLATE).read_text(encoding="utf-8")
    head, _, rest = page.partition("%DATA%")
    for mark in ("%TITLE%", "%SUMMARY%"):
        head = head.replace(mark, parts[mark])
    return head + parts["%DATA%"] + rest


def _group(one: Group) -> dict[str, Any]:
    flags = {flag.name: flag.severity for flag in one.flags}
    return {
        "title": group_title(one),
        "also": [object_name(change.key) for change in one.changes[1:]],
        "flags": list(flags.items()),
        "dangers": list(dict.fromkeys(printable(f"{flag.name}: {flag.message}") for flag in one.flags)),
        "lines": [[line.style, line.text] for line in change_lines(one.changes[0])],
    }
