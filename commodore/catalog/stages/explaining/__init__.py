"""Explain a rendered manifest: the instance that wrote it, its inputs, and the parameters that were read for it."""

from __future__ import annotations

from commodore.catalog.stages.explaining.explaining import explain_manifest
from commodore.catalog.stages.explaining.model import (
    CompileEntry,
    ComponentCheckout,
    FieldPlace,
    FilterUse,
    ManifestExplanation,
    ParameterCandidate,
    ReadParameter,
)

__all__ = [
    "CompileEntry",
    "ComponentCheckout",
    "FieldPlace",
    "FilterUse",
    "ManifestExplanation",
    "ParameterCandidate",
    "ReadParameter",
    "explain_manifest",
]
