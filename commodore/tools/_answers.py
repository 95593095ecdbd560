"""What servers may answer besides what was asked for, and URLs for messages."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from commodore.errors import EnvironmentFault


class StatusError(Exception):
    """The server answered, but not with what was asked for."""

    def __init__(self, url: str, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(f"{url} returned {status}")
        self.url = url
        self.status = status
        self.headers = headers

    def as_fault(self) -> EnvironmentFault:
        """The error for a status that has no meaning of its own."""
        return EnvironmentFault("CMD-TOOL-011", f"{self.url} returned {self.status}", hint="try again later")


def without_credentials(url: str) -> str:
    """The URL without user and password, for messages and requests."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
