"""Rendering of sources: directories, Jsonnet, Helm, Kustomize and plugins. Repositories are never written to."""

from __future__ import annotations

from commodore.argocd.rendering.application import Renderer
from commodore.argocd.rendering.model import Capabilities, PartlyRendered, Rendered, Trace
from commodore.argocd.rendering.opened import OpenSources, checkouts, open_sources

__all__ = [
    "Capabilities",
    "OpenSources",
    "PartlyRendered",
    "Rendered",
    "Renderer",
    "Trace",
    "checkouts",
    "open_sources",
]
