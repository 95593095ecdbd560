"""Signed objects in stores that many machines share: who may be trusted, how they are fetched and written."""

from commodore.core.results.remote_store.maintenance import RemoteCare
from commodore.core.results.remote_store.signed import Signer, Trust, new_key, read_signer
from commodore.core.results.remote_store.store import Counts, ReadAccess, RemoteOptions, RemoteStore

__all__ = [
    "Counts",
    "ReadAccess",
    "RemoteCare",
    "RemoteOptions",
    "RemoteStore",
    "Signer",
    "Trust",
    "new_key",
    "read_signer",
]
