"""How Sphinx builds the documentation."""

from __future__ import annotations

import commodore

project = "commodore"
author = "The commodore authors"
project_copyright = "2026, The commodore authors"
version = release = commodore.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
myst_heading_anchors = 3
