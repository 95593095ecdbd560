"""Changes between two sides: files, lines, and objects with their groups, dangers and reports."""

from __future__ import annotations

from commodore.core.review.changes import ChangeKind, FileChange, TreeChange, compare_trees
from commodore.core.review.diff import DiffMode, render
from commodore.core.review.textdiff import DiffLine, LineStyle

__all__ = [
    "ChangeKind",
    "DiffLine",
    "DiffMode",
    "FileChange",
    "LineStyle",
    "TreeChange",
    "compare_trees",
    "render",
]
