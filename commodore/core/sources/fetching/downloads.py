"""Files of web servers by URL, with what the server needs to say that they are still the same."""

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
    """Files of web servers by URL, kept with what the server needs to say that they are still the same.

    Args:
        cache: the folder of all that is fetched; that of the downloads lies in it.
    """

    def __init__(self, cache: Path, limits: Limits) -> None:
        super().__init__("downloads", cache / "downloads", limits)

    def digest(self, url: str, context: Context, check: Callable[[str], None] | None = None) -> str | None:
        """The digest of what a URL gives now; None if it gives nothing. The content is kept.

        Args:
            check: judges where redirects lead; see `get_download`.
        """
        from commodore.core.sources.fetching.web import get_download  # the library behind it takes its time to load

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
        """The digest of what a URL gave the last time, if that is kept."""
        about = self.describe(self._of(url))
        return str(about["digest"]) if about is not None and self.is_sound(self._of(url)) else None

    def find(self, url: str, digest: str) -> tuple[bytes, str] | None:
        """The content of a URL with this digest, and its type, if it is kept."""
        place = self._of(url)
        with contextlib.suppress(OSError):
            about, content = self.describe(place), _content(place)
            if about is not None and hashlib.sha256(content).hexdigest() == digest:
                self.note_use(place)
                return content, str(about["type"])
        return None

    def add(self, url: str, content: bytes, headers: Mapping[str, str]) -> str:
        """Keep what a URL gives, instead of what it gave before. Returns its digest.

        Args:
            headers: those of the answer.
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
    """When a file was changed, if that is long enough ago: another change in the same second looks the same."""
    try:
        modified, now = (parsedate_to_datetime(headers[name]) for name in ("Last-Modified", "Date"))
        return headers["Last-Modified"] if (now - modified).total_seconds() >= _SETTLED else ""
    except (KeyError, TypeError, ValueError):
        return ""
