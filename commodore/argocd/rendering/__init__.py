"""Sources become objects: directories, Jsonnet, Helm, Kustomize. Nothing is written into a repository."""

from __future__ import annotations

from commodore.argocd.rendering.application import Renderer
from commodore.argocd.rendering.model import Capabilities, PartlyRendered, Rendered, Trace

__all__ = ["Capabilities", "PartlyRendered", "Rendered", "Renderer", "Trace"]
