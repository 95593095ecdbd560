"""Rendered branches: what Argo CD Applications render, as plain manifests with provenance, committed and pushed."""

from __future__ import annotations

__all__: list[str] = []
