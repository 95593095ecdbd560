"""Checks of Applications: rendering, the rules of their AppProjects, health scripts and schemas."""

from __future__ import annotations

from commodore.argocd.checking.outcomes import Checks, Outcome, Tester
from commodore.argocd.checking.projects import Projects, fits_namespace

__all__ = ["Checks", "Outcome", "Projects", "Tester", "fits_namespace"]
