"""Care for the caches that all working directories share: what is in them, what may go, whether it is sound.

Other runs may read and write meanwhile. Entries are complete or not there: one that goes is moved aside by a rename
before it is taken apart, and the next run that needs it makes it again.
"""

from __future__ import annotations

from commodore.cache_care.amounts import age_text, parse_age, parse_size, size_text
from commodore.cache_care.pruning import Pruned, PruneRules, prune
from commodore.cache_care.sections import Entry, Section, sections
from commodore.cache_care.surveying import Survey, survey
from commodore.cache_care.verifying import Verified, verify

__all__ = [
    "Entry",
    "PruneRules",
    "Pruned",
    "Section",
    "Survey",
    "Verified",
    "age_text",
    "parse_age",
    "parse_size",
    "prune",
    "sections",
    "size_text",
    "survey",
    "verify",
]
