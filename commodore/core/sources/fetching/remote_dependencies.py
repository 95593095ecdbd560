"""Charts and folders of commits in remote stores, each below `v1/dependencies/` by the digest of source and version."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from commodore.core.results.remote_store import RemoteStore


def object_name(digest: str) -> str:
    """The name of an entry's object."""
    return f"v1/dependencies/{digest[:2]}/{digest}.tar.gz"


@dataclass(slots=True)
class RemoteDependencies:
    """Asks remote stores for entries of the cache of dependencies, for each once in its life. Does not raise.

    Args:
        most: bytes of an entry, packed.
    """

    store: RemoteStore
    most: int
    _came: dict[str, bool] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def bring(self, digests: Collection[str], adopt: Callable[[str, bytes], None]) -> int:
        """Bring entries, as far as there are any; what another thread asks for is waited for.

        Args:
            adopt: keeps what was packed, given the entry's digest.

        Returns:
            How many of them have come by now.
        """
        with self._lock:
            names = {object_name(digest): digest for digest in digests if digest not in self._came}
            found = self.store.fetch(names, self.most) if names else {}
            for name, digest in names.items():
                self._came[digest] = name in found
                for content in found.get(name, ()):
                    adopt(digest, content)
            return sum(self._came[digest] for digest in digests)
