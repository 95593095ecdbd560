"""`component sync` and `package sync`: pull requests with template updates, for many repositories."""

from commodore.authoring.sync.model import ItemResult, SyncRequest, SyncResult
from commodore.authoring.sync.run import sync_repositories

__all__ = ["ItemResult", "SyncRequest", "SyncResult", "sync_repositories"]
