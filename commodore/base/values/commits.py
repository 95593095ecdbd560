"""Ids of git commits."""

from __future__ import annotations

import re
from typing import Final

COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A full id, SHA-1 or SHA-256, in lower case as git prints it."""


def is_commit(text: str) -> bool:
    """Return True for a full commit id."""
    return COMMIT.fullmatch(text) is not None
