"""The type of a source."""

from __future__ import annotations

import os
from pathlib import Path

from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.sources import Source, SourceType
from commodore.argocd.trees import KUSTOMIZATIONS


def source_type(source: Source, folder: Path, settings: ArgoSettings) -> SourceType:
    """Return the type of a source, by its blocks or else by the files of its folder, if that type is enabled.

    Raises:
        InputError: CMD-ARGO-302, it has blocks of several types.
    """
    kind = source.explicit_type()
    if kind is None:
        kind = "Helm" if source.chart else detected_type(folder)
    if kind in ("Helm", "Kustomize") and not settings.enabled(kind.lower()):
        return "Directory"
    return kind


def detected_type(folder: Path) -> SourceType:
    """Return the type of a folder, by the last file in lexical order that implies a type."""
    kind: SourceType = "Directory"
    for name in sorted(os.listdir(folder)):
        if name in KUSTOMIZATIONS:
            kind = "Kustomize"
        elif name.endswith("Chart.yaml"):
            kind = "Helm"
    return kind
