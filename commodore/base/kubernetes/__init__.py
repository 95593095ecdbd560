"""Kubernetes objects as data: identity, order, schemas."""

from __future__ import annotations

from commodore.base.kubernetes.objects import ObjectKey, is_well_formed, key_of

__all__ = ["ObjectKey", "is_well_formed", "key_of"]
