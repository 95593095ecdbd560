"""The result: assemble the manifests, show what changed, commit, push, report."""

from __future__ import annotations

from commodore.catalog.assemble import Compiled, assemble, warn_about_objects
from commodore.catalog.message import commit_message
from commodore.catalog.metadata import CompileMetadata, RepositoryVersion, local_now
from commodore.catalog.pending import Send, pending_file, report, report_pending

__all__ = [
    "CompileMetadata",
    "Compiled",
    "RepositoryVersion",
    "Send",
    "assemble",
    "commit_message",
    "local_now",
    "pending_file",
    "report",
    "report_pending",
    "warn_about_objects",
]
