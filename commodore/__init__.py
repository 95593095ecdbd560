"""Compile the GitOps catalog of a Kubernetes cluster."""

from __future__ import annotations

__all__ = ["__version__"]

# The one place of the version: the build and `commodore version` read it here.
__version__ = "0.1.0"
