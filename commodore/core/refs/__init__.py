"""Secret references: find them in parameters, write their ref files, check the output for unresolved ones."""

from __future__ import annotations

from commodore.core.refs.check import check_text
from commodore.core.refs.check_output import check_output
from commodore.core.refs.find import SecretReference, collect, find_references
from commodore.core.refs.write import build_refs, write_refs

__all__ = [
    "SecretReference",
    "build_refs",
    "check_output",
    "check_text",
    "collect",
    "find_references",
    "write_refs",
]
