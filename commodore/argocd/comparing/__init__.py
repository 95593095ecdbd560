"""What a change means: two trees, their Applications rendered on both sides, compared as Argo CD would."""

from __future__ import annotations

from commodore.argocd.comparing.applications import Difference, Rules, State, Verdict
from commodore.argocd.comparing.changed import Considered
from commodore.argocd.comparing.diff import ComparisonOptions, Wanted, diff
from commodore.argocd.comparing.reads import reads_of
from commodore.argocd.comparing.sides import Side, find_merge_base, find_side, pair_of

__all__ = [
    "ComparisonOptions",
    "Considered",
    "Difference",
    "Rules",
    "Side",
    "State",
    "Verdict",
    "Wanted",
    "diff",
    "find_merge_base",
    "find_side",
    "pair_of",
    "reads_of",
]
