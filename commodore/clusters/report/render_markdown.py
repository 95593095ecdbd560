"""The report as Markdown of a limited length, for the description of a pull request."""

from __future__ import annotations

from itertools import groupby

from commodore.base.printable import in_markdown, printable_lines
from commodore.clusters.report.model import FleetReport
from commodore.clusters.report.render_text import render_text


def render_markdown(report: FleetReport, limit: int) -> str:
    """The report in at most `limit` characters; whole groups are left out, and counted, where there is no room."""
    lines = [(kind, printable_lines(text)) for kind, text in render_text(report)]
    blocks = []
    for is_plain, part in groupby(lines, key=lambda line: line[0] in ("plain", "title", "error")):
        texts = [text for _, text in part]
        blocks.append("\n".join(_escaped(text) for text in texts) if is_plain else _fenced(texts))
    text, left_out = "", 0
    for block in blocks:
        if len(text) + len(block) > limit - 80:
            left_out += 1
        else:
            text += block + "\n\n"
    return text + (f"{left_out} parts of the report are left out: there is no room for them.\n" if left_out else "")


def _escaped(text: str) -> str:
    return "\n".join(f"{in_markdown(line)}  " for line in text.split("\n"))


def _fenced(lines: list[str]) -> str:
    stripped = [line.removeprefix("     ") for line in lines]
    fence = "```"
    while any(fence in line for line in stripped):
        fence += "`"
    return "\n".join([f"{fence}diff", *stripped, fence])
