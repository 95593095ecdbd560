"""Text of others in reports: on a terminal, and as Markdown in the description of a pull request."""

from __future__ import annotations

import re

import pytest

from commodore.errors import InputError
from commodore.fleet.compiling.outcome import ClusterOutcome
from commodore.fleet.report.model import FleetReport
from commodore.fleet.report.render_markdown import render_markdown
from commodore.fleet.report.render_text import render_text
from commodore.printable import printable_lines

MARKS = {
    "html": "<img src=x onerror=alert(1)>",
    "escaped html": "\\<img src=x onerror=alert(1)>",
    "entity": "&lt;img&gt;",
    "link": "[text](https://evil.example.com)",
    "escaped link": "\\[text](https://evil.example.com)",
    "address": "https://evil.example.com www.evil.example.com",
    "mention": "@everyone",
    "fence": "```\n<b>\n```",
    "line": "x\n# <b>title",
    "table": "a | b",
    "colour": "\x1b[31mred\x1b[0m",
    "hyperlink": "\x1b]8;;https://evil.example.com\x07text\x1b]8;;\x07",
    "direction": "abc\u202e\u2066fed",
    "new direction": "a\u200fb",
    "separator": "a\u2028b",
}


def report(message: str, hint: str = "", place: str = "") -> FleetReport:
    error = InputError("CMD-INV-001", message, hint=hint, locations=[place] if place else [])
    cluster = ClusterOutcome("c-one", "c-one", "t-one", "all").failing(error)
    return FleetReport("r", "", "", "1", "", 1, False, None, (), (), (cluster,), ())


@pytest.mark.harmless
@pytest.mark.parametrize("part", ["message", "hint", "place"])
@pytest.mark.parametrize("mark", MARKS)
def test_errors_in_the_report_of_a_fleet(mark: str, part: str) -> None:
    text = MARKS[mark]
    found = report(**{"message": "it is wrong", part: text})
    terminal = "\n".join(printable_lines(line) for _, line in render_text(found))
    markdown = render_markdown(found, 10_000)
    for shown in (terminal, markdown):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200f\u2028\u202e\u2066]", shown)
    assert not re.search(r"[<>`@\[\]|\\]|://|www\.", markdown)
    assert not re.search(r"&(?!#\d+;)", markdown)
    assert not re.search(r"(?m)^#", markdown)
