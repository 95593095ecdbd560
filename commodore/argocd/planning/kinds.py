"""Which type a source has."""

from __future__ import annotations

import os
from pathlib import Path

from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.sources import Source, SourceType
from commodore.argocd.trees import KUSTOMIZATIONS


def source_type(source: Source, folder: Path, settings: ArgoSettings) -> SourceType:
    """The type of a source: what its blocks say, else what lies in its folder, as far as it is switched on.

    Raises:
        InputError: CMD-ARGO-302, its blocks say several.
    """
    found = source.explicit_type()
    if found is None:
        found = "Helm" if source.chart else detected_type(folder)
    if found in ("Helm", "Kustomize") and not settings.enabled(found.lower()):
        return "Directory"
    return found


def detected_type(folder: Path) -> SourceType:
    """The type of a folder, by the last file, in lexical order, that says one."""
    found: SourceType = "Directory"
    for name in sorted(os.listdir(folder)):
        if name in KUSTOMIZATIONS:
            found = "Kustomize"
        elif name.endswith("Chart.yaml"):
            found = "Helm"
    return found
