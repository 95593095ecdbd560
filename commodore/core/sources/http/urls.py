"""URLs: servers that may receive credentials, and redaction."""

from __future__ import annotations

import base64
import ipaddress
from urllib.parse import unquote, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


def is_loopback(url: str) -> bool:
    """Check if the URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_server(old: str, new: str) -> bool:
    """Check if credentials for `old` may be sent to `new`: same host and port, and never from https to http."""
    before, after = urlsplit(old), urlsplit(new)
    if before.hostname != after.hostname or after.username is not None or after.password is not None:
        return False
    if before.scheme == after.scheme:
        return _port(before.scheme, before.port) == _port(after.scheme, after.port)
    # An upgrade from http to https between the two standard ports is allowed.
    return (
        (before.scheme, after.scheme) == ("http", "https") and before.port in (None, 80) and after.port in (None, 443)
    )


def without_credentials(url: str) -> str:
    """Return the URL for messages: without user name, password, query and fragment.

    Raises:
        ValueError: the URL is invalid.
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def split_credentials(url: str) -> tuple[str, dict[str, str]]:
    """Return the URL without user name and password, and the authorization header with them.

    Raises:
        ValueError: the URL is invalid.
    """
    parts = urlsplit(url)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, basic(unquote(parts.username), unquote(parts.password or "")) if parts.username else {}


def basic(user: str, password: str) -> dict[str, str]:
    """Return the header of basic authentication."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def _port(scheme: str, port: int | None) -> int | None:
    return port if port is not None else _PORTS.get(scheme)
