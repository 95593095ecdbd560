"""The codes of diagnostics that are errors with `--strict`, and the check for partial results."""

from __future__ import annotations

from collections.abc import Iterable

from commodore.base.diagnostics import Diagnostic, Diagnostics, Severity, Subject

_STRICT = (
    9, 11, 104, 105, 107, 108, 110, 120, 121, 127, 201, 202, 204, 210, 215, 216, 220, 319, 321, 322, 414,
    415, 421, 426, 501, 505, 506, 507, 601, 602, 603, 604, 605, 607, 701, 704, 705, 707, 801, 910,
)  # fmt: skip
STRICT = frozenset(f"CMD-ARGO-{number:03d}" for number in _STRICT)
"""The codes that are errors with `--strict`: something is not supported, or is ignored."""


def is_partial(diagnostics: Iterable[Diagnostic]) -> bool:
    """Check if an error or an ApplicationSet that cannot be expanded makes a result incomplete."""
    return any(
        diagnostic.severity == "error" or (diagnostic.severity == "boundary" and diagnostic.subject.set)
        for diagnostic in diagnostics
    )


__all__ = ["Diagnostic", "Diagnostics", "STRICT", "Severity", "Subject", "is_partial"]
