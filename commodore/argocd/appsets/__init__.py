"""ApplicationSets: generators, templates, and the Applications that they make, offline."""

from __future__ import annotations

from commodore.argocd.appsets.expand import Expander, Generated
from commodore.argocd.appsets.facts import Facts, read_facts
from commodore.argocd.appsets.git_files import Checkout, Repositories
from commodore.argocd.appsets.globs import PathPatterns
from commodore.argocd.appsets.model import ApplicationSet, read_set, read_sets
from commodore.argocd.appsets.needed import needed_facts
from commodore.argocd.appsets.selectors import selects

__all__ = [
    "ApplicationSet",
    "Checkout",
    "Expander",
    "Facts",
    "Generated",
    "PathPatterns",
    "Repositories",
    "needed_facts",
    "read_facts",
    "read_set",
    "read_sets",
    "selects",
]
