"""The host of a source, and whether it is this machine or its link, however it is spelt."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

_SCP = re.compile(r"(?:[^@/:]+@)?(\[[0-9A-Fa-f:.]+\]|[^/:@]+):(?!//)")
_FORCED = re.compile(r"^[A-Za-z0-9+-]+::(?=[A-Za-z0-9+-]+://|[^/]+@)")
_METADATA = frozenset(("metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"))


def host_of(source: str) -> str:
    """The host of a URL, or of git's `user@host:path`, in lower case; empty for a path on this machine."""
    text = _FORCED.sub("", source, count=1)
    if "://" in text:
        try:
            return (urlsplit(text).hostname or "").rstrip(".").lower()
        except ValueError:
            return text.partition("://")[2].partition("/")[0].lower()
    matched = _SCP.match(text)
    return matched[1].strip("[]").rstrip(".").lower() if matched is not None else ""


def is_near(host: str) -> bool:
    """Whether a host is this machine, or an address of its link, where clouds answer with credentials. Names are not
    resolved.
    """
    if host == "localhost" or host.endswith(".localhost") or host in _METADATA:
        return True
    address = _address(host)
    if address is None:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_link_local or address.is_unspecified


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is, also by one of the old spellings: `127.1`, `2130706433`, `0x7f.0.0.1`."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host)) if host and not host[-1].isspace() else None
    except OSError:
        return None
