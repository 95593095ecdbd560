"""Signed objects in stores that many machines share: trusted keys, reading and writing."""

from commodore.core.results.remote_store.maintenance import RemoteMaintenance
from commodore.core.results.remote_store.signed import Signer, Trust, new_key, read_signer
from commodore.core.results.remote_store.store import Counts, ReadAccess, RemoteOptions, RemoteStore

__all__ = [
    "Counts",
    "ReadAccess",
    "RemoteMaintenance",
    "RemoteOptions",
    "RemoteStore",
    "Signer",
    "Trust",
    "new_key",
    "read_signer",
]
