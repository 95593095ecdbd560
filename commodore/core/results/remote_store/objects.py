"""Objects in a shared store: S3, Google Cloud, Azure, HTTP, or a folder. The only user of obstore."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from commodore.base.errors import EnvironmentFault, UsageError
from commodore.base.files.file_lock import HeldElsewhere, hold
from commodore.base.limits import Limits

_AT_ONCE = 1000  # objects removed by one request
_STATUS = re.compile(r"status code: (\d{3})")
_OS_ERROR = re.compile(r"\(os error (\d{1,4})\)")
_SCHEMES = ("s3", "gs", "az", "https", "http", "file")


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object that a store lists. `written` is in seconds since 1970."""

    name: str
    bytes: int
    written: float


class StoreFault(Exception):
    """A request to a store failed. The text never contains credentials or the store's response.

    Attributes:
        late: whether the request timed out.
    """

    def __init__(self, reason: str, *, late: bool = False) -> None:
        super().__init__(reason)
        self.late = late


def check_url(url: str) -> None:
    """Refuse a URL that is not one of a store, or contains credentials.

    Raises:
        UsageError: CMD-CACHE-024.
    """
    hint = "give the store's credentials in the variables of its provider, such as AWS_ACCESS_KEY_ID"
    try:
        parts = urlsplit(url)
        holds_more = parts.username is not None or parts.password is not None or bool(parts.query or parts.fragment)
    except ValueError:
        raise UsageError("CMD-CACHE-024", "the URL of a remote cache cannot be read", hint=hint) from None
    if holds_more:
        raise UsageError("CMD-CACHE-024", "the URL of a remote cache holds credentials or a query", hint=hint)
    if parts.scheme not in _SCHEMES or not (parts.netloc or (parts.scheme == "file" and parts.path.startswith("/"))):
        known = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise UsageError(
            "CMD-CACHE-024", f"{url!r} is not the URL of a remote cache", hint=f"it begins with one of: {known}"
        )


def folder_of(url: str) -> Path | None:
    """Return the folder of a store with a `file:` URL; None for others."""
    return Path(urlsplit(url).path) if url.startswith("file:") else None


class Objects:
    """The objects below a URL. A missing folder is created.

    Args:
        url: one that `check_url` accepts.

    Raises:
        EnvironmentFault: CMD-CACHE-026, the library is not installed.
        UsageError: CMD-CACHE-024, the library does not accept the URL.
    """

    def __init__(self, url: str, limits: Limits) -> None:
        try:
            import obstore
            from obstore.store import from_url
        except ImportError as error:
            raise EnvironmentFault(
                "CMD-CACHE-026",
                "a remote cache needs the library obstore, which is not installed",
                hint="pip install 'commodore-catalog[remote-cache]', or leave --cache-url out",
            ) from error
        self._library = obstore
        self._seconds = limits.remote_object_seconds
        self._folder = folder_of(url)
        try:
            self._store: Any = from_url(url, **self._settings(url, limits))
        except Exception as error:
            raise UsageError(
                "CMD-CACHE-024",
                f"{url!r} is not the URL of a remote cache, or its provider's settings in the environment are wrong",
                hint="see docs/how-to/use-the-cache.md for the forms and variables",
            ) from error

    def _settings(self, url: str, limits: Limits) -> dict[str, Any]:
        if self._folder is not None:
            return {"mkdir": True}
        client: dict[str, str | bool] = {
            "connect_timeout": f"{limits.remote_connect_seconds}s",
            "timeout": f"{limits.remote_object_seconds}s",
        }
        asked = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true", "yes")  # settings here replace it
        if url.startswith("http:") or asked:
            client["allow_http"] = True
        pauses = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=1), "base": 2}
        longest = timedelta(seconds=limits.remote_object_seconds)
        return {
            "client_options": client,
            "retry_config": {"max_retries": 1, "backoff": pauses, "retry_timeout": longest},
        }

    def get(self, name: str, most: int) -> tuple[bytes, str | None] | None:
        """Return the bytes of an object and its entity tag; None if it does not exist.

        Raises:
            StoreFault: the request failed, or the object has more than `most` bytes.
        """
        with self._guarded():
            try:
                response = self._library.get(self._store, name)
                parts, size = [], 0
                for part in response.stream():
                    size += len(part)
                    if size > most:
                        raise StoreFault(f"an object has more than {most} bytes")
                    parts.append(bytes(part))
            except FileNotFoundError:
                return None
            return b"".join(parts), response.meta["e_tag"]

    def create(self, name: str, whole: bytes) -> bool:
        """Create an object. Returns False if it exists.

        Raises:
            StoreFault: the request failed.
        """
        with self._guarded():
            return self._put(name, whole, "create")

    def replace(self, name: str, whole: bytes, e_tag: str | None) -> bool:
        """Replace the object if it still has this entity tag. Returns False if it was changed.

        Raises:
            StoreFault: the request failed.
        """
        with self._guarded():
            return self._put(name, whole, {"e_tag": e_tag} if e_tag is not None else "overwrite")

    def _put(self, name: str, whole: bytes, mode: Any) -> bool:
        known = self._library.exceptions
        try:
            if self._folder is None or mode == "create":
                self._library.put(self._store, name, whole, mode=mode, use_multipart=False)
                return True
            # A folder has no conditional replacement: the lock lets the entity tag be compared before writing.
            with hold(self._folder / ".lock", wait=self._seconds):
                try:
                    now = self._library.head(self._store, name)["e_tag"]
                except FileNotFoundError:
                    return False  # it was removed meanwhile
                if mode != "overwrite" and now != mode["e_tag"]:
                    return False
                self._library.put(self._store, name, whole, mode="overwrite", use_multipart=False)
        except (known.AlreadyExistsError, known.PreconditionError):
            return False
        return True

    def list(self) -> list[StoredObject]:
        """Return all objects.

        Raises:
            StoreFault: the request failed.
        """
        with self._guarded():
            return [
                StoredObject(str(item["path"]), int(item["size"]), item["last_modified"].timestamp())
                for part in self._library.list(self._store, "v1")
                for item in part
            ]

    def remove(self, names: Sequence[str]) -> None:
        """Remove objects; missing ones are ignored.

        Raises:
            StoreFault: the request failed.
        """
        with self._guarded():
            for start in range(0, len(names), _AT_ONCE):
                self._library.delete(self._store, names[start : start + _AT_ONCE])

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        except StoreFault:
            raise
        except Exception as error:  # of any library below; its text has the store's response, which is not repeated
            late = time.monotonic() - begun >= self._seconds
            raise StoreFault(self._in_words(error, late=late), late=late) from None

    def _in_words(self, error: Exception, *, late: bool) -> str:
        """Return the reason of a failure, without any text that the store has sent."""
        known, text = self._library.exceptions, str(error)
        if isinstance(error, HeldElsewhere):
            return "another process writes all the time"
        if late:
            return "no answer in time"
        if status := _STATUS.search(text):
            return f"status {status[1]}"
        if self._folder is not None and (number := _OS_ERROR.search(text)):
            return os.strerror(int(number[1])).lower()
        if isinstance(error, PermissionError | known.PermissionDeniedError | known.UnauthenticatedError):
            return "access denied"
        if isinstance(error, known.NotSupportedError):
            return "the store does not support the request"
        if "error sending request" in text:
            return "no connection"
        return "the answer was cut off or malformed"
