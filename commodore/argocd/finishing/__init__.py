"""Steps of Argo CD between rendering and comparison: tracking, namespaces, duplicates, filters."""

from __future__ import annotations

from commodore.argocd.finishing.finish import desired, expand_lists, in_namespace, manifests
from commodore.argocd.finishing.hooks import hook_phases
from commodore.argocd.finishing.object_filter import ObjectFilter, pointers

__all__ = ["ObjectFilter", "desired", "expand_lists", "hook_phases", "in_namespace", "manifests", "pointers"]
