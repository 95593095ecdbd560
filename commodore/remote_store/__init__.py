"""Signed objects in stores that many machines share: who may be trusted, how they are fetched and written."""

from commodore.remote_store.maintenance import RemoteCare
from commodore.remote_store.objects import check_url
from commodore.remote_store.signed import Signer, Trust, key_id, new_key, read_signer, read_trust
from commodore.remote_store.store import Counts, ReadAccess, RemoteOptions, RemoteStore

__all__ = [
    "Counts",
    "ReadAccess",
    "RemoteCare",
    "RemoteOptions",
    "RemoteStore",
    "Signer",
    "Trust",
    "check_url",
    "key_id",
    "new_key",
    "read_signer",
    "read_trust",
]
