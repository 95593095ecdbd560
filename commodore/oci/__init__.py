"""Registries of OCI artefacts: references, tags, manifests, layers. Nothing of the machine's own logins is used."""

from __future__ import annotations

from commodore.oci.reference import Reference, parse_reference
from commodore.oci.registry import CHART, CONTENT, Descriptor, Manifest, Registries, content_layer

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
