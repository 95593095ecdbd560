"""Semantic versions with ranges, and versions of Kubernetes."""

from __future__ import annotations

from commodore.versions.kube import kube_version
from commodore.versions.semver import Range, Version, VersionProblem, is_exact, parse_range, parse_version

__all__ = [
    "Range",
    "Version",
    "VersionProblem",
    "is_exact",
    "kube_version",
    "parse_range",
    "parse_version",
]
