"""Comparison of two trees: their Applications rendered on both sides, and compared as in Argo CD."""

from __future__ import annotations

from commodore.argocd.comparing.applications import Difference, Rules, State, Verdict
from commodore.argocd.comparing.changed import ChangedFileFilter
from commodore.argocd.comparing.diff import ComparisonOptions, ComparisonRequest, diff
from commodore.argocd.comparing.reads import reads_of
from commodore.argocd.comparing.sides import Side, find_merge_base, find_side, pair_of

__all__ = [
    "ComparisonOptions",
    "ChangedFileFilter",
    "Difference",
    "Rules",
    "Side",
    "State",
    "Verdict",
    "ComparisonRequest",
    "diff",
    "find_merge_base",
    "find_side",
    "pair_of",
    "reads_of",
]
