"""Semantic versions with ranges, and versions of Kubernetes."""

from __future__ import annotations

from commodore.base.values.versions.semver import Range, Version, VersionProblem, parse_range, parse_version

__all__ = [
    "Range",
    "Version",
    "VersionProblem",
    "parse_range",
    "parse_version",
]
