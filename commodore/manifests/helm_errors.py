"""What helm says of templates that include themselves, in few words: it repeats each step, a thousand times."""

from __future__ import annotations

import re

_ENDLESS = (
    re.compile(r"nested reference name: (?P<name>\S+): unable to execute"),
    re.compile(r'executing "(?P<name>[^"]*)" at <[^>]*>:\s+exceeded maximum template depth'),
)


def endless_template(said: str) -> str:
    """Why a chart does not come to an end, if a template of it includes itself; else an empty string."""
    found = next(filter(None, (pattern.search(said) for pattern in _ENDLESS)), None)
    return f"the template {found['name']!r} includes itself without end" if found is not None else ""
