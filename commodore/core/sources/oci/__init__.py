"""Registries of OCI artefacts: references, tags, manifests, layers. Nothing of the machine's own logins is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.sources.oci.reference import Reference, parse_reference
    from commodore.core.sources.oci.registry import CHART, CONTENT, Descriptor, Manifest, Registries, content_layer

# What talks to registries takes a while to load, and most runs ask none.
__getattr__ = lazy_exports(
    __name__,
    {
        "reference": ("Reference", "parse_reference"),
        "registry": ("CHART", "CONTENT", "Descriptor", "Manifest", "Registries", "content_layer"),
    },
)
__all__ = [
    "CHART",
    "CONTENT",
    "Descriptor",
    "Manifest",
    "Reference",
    "Registries",
    "content_layer",
    "parse_reference",
]
