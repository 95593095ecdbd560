"""URLs: where credentials may go, and how they are shown."""

from __future__ import annotations

import base64
import ipaddress
from urllib.parse import unquote, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_server(old: str, new: str) -> bool:
    """Whether what may be sent to `old` may be sent to `new`: same host and port, and never from https to http."""
    before, after = urlsplit(old), urlsplit(new)
    if before.hostname != after.hostname or after.username is not None or after.password is not None:
        return False
    if before.scheme == after.scheme:
        return _port(before.scheme, before.port) == _port(after.scheme, after.port)
    # From plain to encrypted is fine, between the two standard ports.
    return (
        (before.scheme, after.scheme) == ("http", "https") and before.port in (None, 80) and after.port in (None, 443)
    )


def without_credentials(url: str) -> str:
    """The URL as it may be shown: without user name, password, query and fragment.

    Raises:
        ValueError: it is no URL.
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def split_credentials(url: str) -> tuple[str, dict[str, str]]:
    """The URL without user name and password, and the header that these become.

    Raises:
        ValueError: it is no URL.
    """
    parts = urlsplit(url)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, basic(unquote(parts.username), unquote(parts.password or "")) if parts.username else {}


def basic(user: str, password: str) -> dict[str, str]:
    """The header for a user name and a password."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def _port(scheme: str, port: int | None) -> int | None:
    return port if port is not None else _PORTS.get(scheme)
