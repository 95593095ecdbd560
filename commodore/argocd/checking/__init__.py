"""Whether Applications may do what they would do, and whether they can be rendered at all."""

from __future__ import annotations

from commodore.argocd.checking.outcomes import Checks, Outcome, Tester
from commodore.argocd.checking.projects import Projects, fits_namespace

__all__ = ["Checks", "Outcome", "Projects", "Tester", "fits_namespace"]
