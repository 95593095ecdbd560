"""Kubernetes objects as data: YAML in and out, identity, ordering, diff."""

from __future__ import annotations

from commodore.manifests.changes import ChangeKind, FileChange, TreeChange, compare_trees
from commodore.manifests.diff import DiffMode, render
from commodore.manifests.objects import ObjectKey, is_well_formed, key_of
from commodore.manifests.textdiff import DiffLine, LineStyle
from commodore.manifests.yaml_in import compose, compose_all, load, load_all, load_rendered
from commodore.manifests.yaml_out import Emitter, MultilineStyle, dump, dump_flush, dump_stream

__all__ = [
    "ChangeKind",
    "DiffLine",
    "DiffMode",
    "Emitter",
    "FileChange",
    "LineStyle",
    "MultilineStyle",
    "ObjectKey",
    "TreeChange",
    "compare_trees",
    "compose",
    "compose_all",
    "dump",
    "dump_flush",
    "dump_stream",
    "is_well_formed",
    "key_of",
    "load",
    "load_all",
    "load_rendered",
    "render",
]
