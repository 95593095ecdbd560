"""Options of caring for the caches."""

from __future__ import annotations

from commodore.settings.common import OUTPUT_FORMAT
from commodore.settings.model import Setting

CACHE_INFO = (OUTPUT_FORMAT,)
CACHE_PRUNE = (
    Setting(
        "older_than",
        ("--older-than",),
        "Remove what was not used for so long: 90m, 12h, 30d or 2w. Without any of these options it is 30d.",
        metavar="AGE",
    ),
    Setting(
        "max_size",
        ("--max-size",),
        "Remove what was used least recently, until no more than this is left: 500M or 5G.",
        metavar="SIZE",
    ),
    Setting("everything", ("--all",), "Remove everything.", kind="switch", default=False),
    Setting("dry_run", ("--dry-run",), "Only say what would be removed.", kind="switch", default=False),
    OUTPUT_FORMAT,
)
CACHE_KEY = (
    Setting("new", ("--new",), "Make the key first; the file must not be there.", kind="switch", default=False),
)
CACHE_VERIFY = (
    Setting("dry_run", ("--dry-run",), "Leave what is damaged where it is.", kind="switch", default=False),
    OUTPUT_FORMAT,
)
