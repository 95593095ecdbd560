"""Pages are written in the words that a user of git, helm, kubectl and Python searches for.

They include the messages of all errors and the help of all options, which are generated from the source.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"

# A word of our own and what is said instead.
INSTEAD = {
    r"nobody|somebody|whoever": "who it is: the user, another process, the publisher; or the passive voice",
    r"asks nobody|nobody is asked": "without network access",
    r"made[- ]up": "fake (a cluster, its facts), generated (test data)",
    r"(?:make|makes|making|made) way": "is saved and replaced, is discarded",
    r"is told": "is reported, is called with",
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix",
    r"stands? in for": "replaces",
    r"stands? twice|stands? there twice": "is set twice, is a duplicate",
    r"look(?:s|ed|ing)? after": "manage",
}


def test_pages_use_the_words_of_the_field() -> None:
    pages = [page for page in DOCS.rglob("*.md") if "adr" not in page.parts]
    assert len(pages) > 30
    results = [
        f"{page.relative_to(DOCS)}: {match[0]!r}: say {better}"
        for page in pages
        for own, better in INSTEAD.items()
        for match in re.finditer(rf"\b(?:{own})\b", page.read_text(encoding="utf-8"), re.IGNORECASE)
    ]
    assert results == []
