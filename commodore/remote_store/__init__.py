"""Signed objects in stores that many machines share: who may be trusted, how they are fetched and written."""

from commodore.remote_store.maintenance import RemoteCare
from commodore.remote_store.signed import Signer, Trust, new_key, read_signer
from commodore.remote_store.store import Counts, ReadAccess, RemoteOptions, RemoteStore

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
