"""Why a rendered manifest is as it is: who made it, from what, and which parameters were read for it."""

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
