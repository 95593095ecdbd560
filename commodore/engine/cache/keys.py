"""What a read is called in a record."""

from __future__ import annotations

MADE = "made"
"""The digest of what an instance has made itself: it depends on nothing else."""

Key = tuple[str, ...]
"""One thing that was read: what kind of thing, and which one."""
