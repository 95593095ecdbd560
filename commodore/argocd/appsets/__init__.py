"""ApplicationSets: generators, templates, and the Applications generated from them, offline.

Names are imported on first use: a repository without ApplicationSets needs no template engine.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.argocd.appsets.expand import Expander as Expander
    from commodore.argocd.appsets.expand import Generated as Generated
    from commodore.argocd.appsets.fact_files import Facts as Facts
    from commodore.argocd.appsets.fact_files import read_facts as read_facts
    from commodore.argocd.appsets.model import ApplicationSet as ApplicationSet
    from commodore.argocd.appsets.model import read_set as read_set
    from commodore.argocd.appsets.model import read_sets as read_sets
    from commodore.argocd.appsets.needed import needed_facts as needed_facts
    from commodore.argocd.appsets.path_patterns import PathPatterns as PathPatterns
    from commodore.argocd.appsets.selectors import selects as selects
else:
    __getattr__ = lazy_exports(__name__)
