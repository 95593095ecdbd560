"""Explanation of parameters: the chain of class files that set a value, replayed to verify it."""

from commodore.core.inventory.explain.explaining import Explaining, explain_parameter, target_of
from commodore.core.inventory.explain.locating import locate_settings
from commodore.core.inventory.explain.model import (
    ClassFilePlace,
    Contribution,
    ExplainedPart,
    Explanation,
    FileOrigin,
    ParameterReference,
)
from commodore.core.inventory.parameter_path import path_text

__all__ = [
    "ClassFilePlace",
    "Contribution",
    "ExplainedPart",
    "Explaining",
    "Explanation",
    "FileOrigin",
    "ParameterReference",
    "explain_parameter",
    "locate_settings",
    "path_text",
    "target_of",
]
