"""The phases of hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PHASES = ("PreSync", "Sync", "PostSync", "SyncFail", "PreDelete", "PostDelete", "Skip")
_OF_HELM = {
    "pre-install": "PreSync",
    "pre-upgrade": "PreSync",
    "post-install": "PostSync",
    "post-upgrade": "PostSync",
    "pre-delete": "PreDelete",
    "post-delete": "PostDelete",
}


def hook_phases(data: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the phases in which a hook runs, or None for other objects. A hook without phases is never applied."""
    metadata = data.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if not isinstance(annotations, Mapping):
        return None
    written = annotations.get("argocd.argoproj.io/hook")
    if isinstance(written, str) and written:
        words = [part.strip() for part in written.split(",")]
        return tuple(dict.fromkeys(word for word in words if word in _PHASES))
    written = annotations.get("helm.sh/hook")
    if not isinstance(written, str) or not written:
        return None
    words = [part.strip() for part in written.split(",")]
    if "crd-install" in words:
        return None
    return tuple(dict.fromkeys(_OF_HELM[word] for word in words if word in _OF_HELM))
