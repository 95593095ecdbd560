"""Charts and folders of commits in remote stores, each below `v1/dependencies/` by the digest of source and version."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from commodore.core.results.remote_store import RemoteStore


def object_name(digest: str) -> str:
    """Return the name of an entry's object."""
    return f"v1/dependencies/{digest[:2]}/{digest}.tar.gz"


@dataclass(slots=True)
class RemoteDependencies:
    """Fetch entries of the dependency cache from remote stores, each at most once. Does not raise.

    Args:
        most: the maximum bytes of a packed entry.
    """

    store: RemoteStore
    most: int
    _came: dict[str, bool] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def bring(self, digests: Collection[str], adopt: Callable[[str, bytes], None]) -> int:
        """Fetch the entries that exist; wait for entries that another thread is fetching.

        Args:
            adopt: stores the packed content; called with the entry's digest and the content.

        Returns:
            The number of these entries that were fetched so far.
        """
        with self._lock:
            names = {object_name(digest): digest for digest in digests if digest not in self._came}
            objects = self.store.fetch(names, self.most) if names else {}
            for name, digest in names.items():
                self._came[digest] = name in objects
                for content in objects.get(name, ()):
                    adopt(digest, content)
            return sum(self._came[digest] for digest in digests)
