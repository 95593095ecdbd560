"""Ids of git's commits."""

from __future__ import annotations

import re
from typing import Final

COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A whole id, of SHA-1 or SHA-256, in lower case as git writes it."""


def is_commit(text: str) -> bool:
    """Tell if a text is the whole id of a commit."""
    return COMMIT.fullmatch(text) is not None
