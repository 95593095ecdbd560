"""Sources become objects: directories, Jsonnet, Helm, Kustomize. Nothing is written into a repository."""

from __future__ import annotations

from commodore.argocd.rendering.application import Renderer
from commodore.argocd.rendering.model import Capabilities, PartlyRendered, Rendered, Trace
from commodore.argocd.rendering.opened import Opened, checkouts, open_sources

__all__ = ["Capabilities", "Opened", "PartlyRendered", "Rendered", "Renderer", "Trace", "checkouts", "open_sources"]
