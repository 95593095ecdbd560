"""`component sync` and `package sync`: pull requests with what templates bring, for many repositories."""

from commodore.authoring.sync.model import ItemResult, Status, SyncRequest, SyncResult
from commodore.authoring.sync.run import sync_repositories

__all__ = ["ItemResult", "Status", "SyncRequest", "SyncResult", "sync_repositories"]
