"""What Argo CD does to rendered objects before it compares them: tracking, namespaces, duplicates, filters."""

from __future__ import annotations

from commodore.argocd.finishing.finish import desired, in_namespace, manifests, opened
from commodore.argocd.finishing.hooks import hook_phases
from commodore.argocd.finishing.shown import Shown, pointers

__all__ = ["Shown", "desired", "hook_phases", "in_namespace", "manifests", "opened", "pointers"]
