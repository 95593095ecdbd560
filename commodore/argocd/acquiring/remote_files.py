"""Files of web servers that sources refer to: value files, and files of kustomizations."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from commodore.argocd.acquiring.providers import RemoteProvider
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import EnvironmentFault
from commodore.base.events import Obtained
from commodore.core.results.caches import dependency_cache, usable
from commodore.core.sources.fetching import CacheKey, DependencyCache
from commodore.core.sources.git import redact

_LARGEST = 64 << 20
_FILE = "content"


@dataclass
class RemoteFiles:
    """Fetches files, each once per run, and caches them for offline runs.

    Args:
        scratch: a folder of this run.
        remotes: queried first.
        diagnostics: collects files that may be outdated.
    """

    context: Context
    scratch: Path
    remotes: RemoteProvider | None
    diagnostics: Diagnostics
    _contents: dict[str, bytes] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def content(self, url: str) -> bytes:
        """Return the content of a URL; offline that of the last fetch.

        Raises:
            CommodoreError: see `fetch`.
        """
        with self._lock:
            if url not in self._contents:
                self._contents[url] = self._fetched(url)
            return self._contents[url]

    def _fetched(self, url: str) -> bytes:
        from commodore.argocd.acquiring.web import fetch

        folder = self.scratch / f"file-{len(self._contents)}"
        plain = redact(url)
        # A query may hold a credential.
        key = CacheKey("argocd file", plain.partition("?")[0], "last", hashlib.sha256(plain.encode()).hexdigest())
        store = DependencyCache(usable(dependency_cache()), self.context.limits)
        try:
            content = fetch(url, self.context, _LARGEST, self.remotes)
        except EnvironmentFault as error:
            if error.code != "CMD-ARGO-310" or not store.copy(key, folder):
                raise
            self._report_age(url, folder / _FILE)
            return (folder / _FILE).read_bytes()
        if self.remotes is None:
            folder.mkdir(parents=True)
            (folder / _FILE).write_bytes(content)
            store.add(key, folder, anew=True)
        return content

    def _report_age(self, url: str, file: Path) -> None:
        then = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        self.context.announce(Obtained(redact(url), "", "", "cache"))
        self.diagnostics.add(
            Diagnostic(
                "CMD-ARGO-321",
                f"{redact(url)} was fetched at {then:%Y-%m-%d %H:%M} UTC; it may have changed",
                "warning",
                "run without --offline to fetch it again",
            )
        )
