"""Flattening nested parameters to texts, keys joined by dots."""

from __future__ import annotations

from typing import Any

from commodore.base.gotemplate import printed


def flatten(value: Any, prefix: str = "") -> dict[str, str]:
    """Return all scalars of a value as texts, by path; empty maps and lists are left out."""
    if isinstance(value, dict):
        pairs = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(str(at), item) for at, item in enumerate(value)]
    else:
        return {prefix: printed(value)}
    texts: dict[str, str] = {}
    for key, item in pairs:
        texts.update(flatten(item, f"{prefix}.{key}" if prefix else key))
    return texts
