"""The type of a source, its overrides and its build environment, before it is rendered."""

from __future__ import annotations

from commodore.argocd.planning.environment import BuildEnvironment, build_environment
from commodore.argocd.planning.kinds import source_type
from commodore.argocd.planning.overrides import overridden

__all__ = ["BuildEnvironment", "build_environment", "overridden", "source_type"]
