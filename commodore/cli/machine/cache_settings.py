"""Options of caring for the caches."""

from __future__ import annotations

from commodore.cli.shell.settings.common import CACHE_TRUST, CACHE_URL, OUTPUT_FORMAT
from commodore.cli.shell.settings.model import Setting

_REMOTE = (
    Setting(
        "remote",
        ("--remote",),
        "Manage the stores of --cache-url, not the caches of this machine.",
        kind="switch",
        default=False,
    ),
    CACHE_URL,
)
CACHE_INFO = (*_REMOTE, OUTPUT_FORMAT)
CACHE_PRUNE = (
    *_REMOTE,
    Setting(
        "older_than",
        ("--older-than",),
        "Remove entries not used for this time: 90m, 12h, 30d or 2w. Without any of these options it is 30d.",
        metavar="AGE",
    ),
    Setting(
        "max_size",
        ("--max-size",),
        "Remove the least recently used entries until at most this size is left: 500M or 5G.",
        metavar="SIZE",
    ),
    Setting("everything", ("--all",), "Remove everything.", kind="switch", default=False),
    Setting("dry_run", ("--dry-run",), "Only show the entries that would be removed.", kind="switch", default=False),
    OUTPUT_FORMAT,
)
CACHE_KEY = (
    Setting("new", ("--new",), "Make the key first; the file must not be there.", kind="switch", default=False),
)
CACHE_VERIFY = (
    *_REMOTE,
    CACHE_TRUST,
    Setting("dry_run", ("--dry-run",), "Do not remove damaged entries.", kind="switch", default=False),
    OUTPUT_FORMAT,
)
