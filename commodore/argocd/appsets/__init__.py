"""ApplicationSets: generators, templates, and the Applications that they make, offline.

Names are loaded when they are first asked for: a repository without ApplicationSets needs no templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.argocd.appsets.expand import Expander, Generated
    from commodore.argocd.appsets.fact_files import Facts, read_facts
    from commodore.argocd.appsets.git_files import Checkout, Repositories
    from commodore.argocd.appsets.globs import PathPatterns
    from commodore.argocd.appsets.model import ApplicationSet, read_set, read_sets
    from commodore.argocd.appsets.needed import needed_facts
    from commodore.argocd.appsets.selectors import selects

__getattr__ = lazy_exports(
    __name__,
    {
        "expand": ("Expander", "Generated"),
        "fact_files": ("Facts", "read_facts"),
        "git_files": ("Checkout", "Repositories"),
        "globs": ("PathPatterns",),
        "model": ("ApplicationSet", "read_set", "read_sets"),
        "needed": ("needed_facts",),
        "selectors": ("selects",),
    },
)
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
