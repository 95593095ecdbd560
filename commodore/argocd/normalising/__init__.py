"""Normalisation of objects for comparisons: without ignored fields, and with values in canonical form."""

from __future__ import annotations

from commodore.argocd.normalising.normalise import Normaliser

__all__ = ["Normaliser"]
