"""Kubernetes objects as data: YAML in and out, identity, ordering, diff."""

from __future__ import annotations

from commodore.manifests.yaml_in import load, load_all
from commodore.manifests.yaml_out import Emitter, MultilineStyle, dump, dump_stream

__all__ = ["Emitter", "MultilineStyle", "dump", "dump_stream", "load", "load_all"]
