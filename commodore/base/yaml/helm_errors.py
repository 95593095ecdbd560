"""Shorten helm's messages about recursive templates, which repeat each step a thousand times."""

from __future__ import annotations

import re

_ENDLESS = (
    re.compile(r"nested reference name: (?P<name>\S+): unable to execute"),
    re.compile(r'executing "(?P<name>[^"]*)" at <[^>]*>:\s+exceeded maximum template depth'),
)


def endless_template(said: str) -> str:
    """Describe endless recursion of a template; empty for other messages."""
    match = next(filter(None, (pattern.search(said) for pattern in _ENDLESS)), None)
    return f"the template {match['name']!r} includes itself without end" if match is not None else ""
