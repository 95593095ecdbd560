"""What does not count when objects are compared: fields that rules ignore, and values that are written differently."""

from __future__ import annotations

from commodore.argocd.normalising.normalise import Normaliser

__all__ = ["Normaliser"]
