"""Configuration of Sphinx."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import commodore

project = "commodore"
author = "The commodore authors"
project_copyright = "2026, The commodore authors"
version = release = commodore.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
myst_heading_anchors = 3
smartquotes = False  # would make a dash of the two hyphens of options


def read_decision(app: Sphinx, name: str, content: list[str]) -> None:
    """List the decisions on a page of their own, and keep them out of the sidebar."""
    if name == "adr/index":
        pages = sorted(page.name for page in Path(app.srcdir, "adr").glob("0*.md"))
        content[0] += "".join(f"- []({page})\n" for page in pages)
    if name.startswith("adr/"):
        content[0] = f"---\norphan: true\n---\n\n{content[0]}"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", read_decision)
