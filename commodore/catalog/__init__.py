"""The result: assemble the manifests, show what changed, commit, push, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports
from commodore.catalog._local_changes import find_work
from commodore.catalog.assemble import Compiled, assemble, warn_about_objects
from commodore.catalog.message import commit_message
from commodore.catalog.metadata import CompileMetadata, RepositoryVersion, local_now
from commodore.catalog.moves import Move, moves_since
from commodore.catalog.pending import Send, expect_report, pending_file, report_pending
from commodore.catalog.publish import (
    CatalogChange,
    add_files,
    install,
    leave,
    moved_meanwhile,
    open_local,
    prepare,
    publish,
    stage,
    staged_tree,
    tree_digest,
    unchanged,
)
from commodore.core.review.file_changes import ChangeSummary, FileDiff

if TYPE_CHECKING:
    from commodore.catalog.trees import objects_of, read_folder, read_revision, review_staged, review_trees
    from commodore.catalog.validation import Problem, Validation, validate_objects
    from commodore.catalog.views import (
        CatalogImage,
        ImageChange,
        ImagePlace,
        ListedObject,
        compare_images,
        list_images,
        list_objects,
    )

# What compares objects takes a while to load, and a compile without changes compares nothing.
__getattr__ = lazy_exports(
    __name__,
    {
        "trees": ("objects_of", "read_folder", "read_revision", "review_staged", "review_trees"),
        "validation": ("Problem", "Validation", "validate_objects"),
        "views": (
            "CatalogImage",
            "ImageChange",
            "ImagePlace",
            "ListedObject",
            "compare_images",
            "list_images",
            "list_objects",
        ),
    },
)
__all__ = [
    "CatalogChange",
    "CatalogImage",
    "ChangeSummary",
    "CompileMetadata",
    "Compiled",
    "FileDiff",
    "ImageChange",
    "ImagePlace",
    "ListedObject",
    "Move",
    "Problem",
    "RepositoryVersion",
    "Send",
    "Validation",
    "add_files",
    "assemble",
    "commit_message",
    "compare_images",
    "expect_report",
    "find_work",
    "install",
    "leave",
    "list_images",
    "list_objects",
    "local_now",
    "moved_meanwhile",
    "moves_since",
    "objects_of",
    "open_local",
    "pending_file",
    "prepare",
    "publish",
    "read_folder",
    "read_revision",
    "report_pending",
    "review_staged",
    "review_trees",
    "stage",
    "staged_tree",
    "tree_digest",
    "unchanged",
    "validate_objects",
    "warn_about_objects",
]
