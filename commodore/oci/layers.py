"""Which layer of an artefact holds its content."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from commodore.errors import PolicyError
from commodore.oci.reference import Reference
from commodore.oci.registry import Descriptor, Manifest

CHART: Final = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
TAR: Final = "application/vnd.oci.image.layer.v1.tar"
CONTENT: Final = frozenset({CHART, TAR, f"{TAR}+gzip"})
_MOST: Final = 10


def content_layer(reference: Reference, manifest: Manifest, types: Collection[str] = CONTENT) -> Descriptor:
    """The one layer of an artefact that holds its content.

    Raises:
        PolicyError: CMD-OCI-006, there is none, or there are several, or too many layers in all.
    """
    found = [layer for layer in manifest.layers if layer.media_type in types]
    if len(found) != 1 or len(manifest.layers) > _MOST:
        raise PolicyError(
            "CMD-OCI-006",
            f"{reference} has {len(found)} layers with content among {len(manifest.layers)}; it must have one",
            hint=f"layers with content are {', '.join(sorted(types))}; at most {_MOST} layers are taken",
        )
    return found[0]
