"""Cache of downloaded files by URL, with the validators for conditional requests."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.sealed import open_own
from commodore.base.limits import Limits
from commodore.core.results.caches.entry_store import EntryStore

_SETTLED = 60.0


class Downloads(EntryStore):
    """Cache of downloaded files by URL, with the validators (`ETag`, `Last-Modified`) for conditional requests.

    Args:
        cache: the folder of all fetched content, which holds the folder of the downloads.
    """

    def __init__(self, cache: Path, limits: Limits) -> None:
        super().__init__("downloads", cache / "downloads", limits)

    def digest(self, url: str, context: Context, check: Callable[[str], None] | None = None) -> str | None:
        """Download a URL, unless it has not changed, and return the digest of its content; None without content.

        Args:
            check: validates the targets of redirects; see `get_download`.
        """
        from commodore.core.sources.fetching.web import get_download  # its HTTP library is slow to import

        place = self._of(url)
        about = self.describe(place) or {}
        headers = {}
        if about and self.is_sound(place):
            names = {"If-None-Match": "etag", "If-Modified-Since": "modified"}
            headers = {header: about[name] for header, name in names.items() if about.get(name)}
        try:
            answer = get_download(url, context, headers, check)
        except CommodoreError:
            return None
        if answer.status == 304:
            self.note_use(place)
            return str(about["digest"]) if headers else None
        return self.add(url, answer.body, answer.headers) if answer.status < 400 else None

    def last(self, url: str) -> str | None:
        """Return the digest of the last download of a URL, if it is in the cache."""
        about = self.describe(self._of(url))
        return str(about["digest"]) if about is not None and self.is_sound(self._of(url)) else None

    def find(self, url: str, digest: str) -> tuple[bytes, str] | None:
        """Return the content of a URL with this digest, and its type, if it is in the cache."""
        place = self._of(url)
        with contextlib.suppress(OSError):
            about, content = self.describe(place), _content(place)
            if about is not None and hashlib.sha256(content).hexdigest() == digest:
                self.note_use(place)
                return content, str(about["type"])
        return None

    def add(self, url: str, content: bytes, headers: Mapping[str, str]) -> str:
        """Store the content of a URL in place of its former content. Returns the digest.

        Args:
            headers: the headers of the response.
        """
        about = {
            "digest": hashlib.sha256(content).hexdigest(),
            "type": headers.get("Content-Type", "application/octet-stream"),
            "etag": headers.get("ETag", ""),
            "modified": _modified(headers),
        }
        with contextlib.suppress(OSError, CommodoreError), self.staging() as aside:
            fresh = aside / "entry"
            fresh.mkdir(mode=0o700)
            (fresh / "content").write_bytes(content)
            self.publish(fresh, self._of(url), about, anew=True)
        return about["digest"]

    def fits(self, place: Path, about: Mapping[str, Any]) -> bool:
        return bool(hashlib.sha256(_content(place)).hexdigest() == about["digest"])

    def _of(self, url: str) -> Path:
        return self.place(hashlib.sha256(url.encode()).hexdigest())


def _content(place: Path) -> bytes:
    with open_own(place / "content") as file:
        return file.read()


def _modified(headers: Mapping[str, str]) -> str:
    """Return the time of the last change if it is long enough ago: a second change in the same second looks equal."""
    try:
        modified, now = (parsedate_to_datetime(headers[name]) for name in ("Last-Modified", "Date"))
        return headers["Last-Modified"] if (now - modified).total_seconds() >= _SETTLED else ""
    except (KeyError, TypeError, ValueError):
        return ""
