"""The host of a source, and whether it is this machine or its link, however it is spelt."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import unquote, urlsplit

_SCP = re.compile(r"(?:[^/:]*@)?(\[[^\]/]*\]|[^/:@]+):(?!//)")
_FORCED = re.compile(r"^(?:[A-Za-z0-9+-]+::)+(?=[A-Za-z0-9+-]+://|[^/]+@)")
_UNCLEAR = re.compile(r"[\x00-\x20\x7f\\%@]")
_THIS_MACHINE = frozenset(("localhost", "localhost.localdomain", "localhost4", "localhost6"))
_THIS_MACHINE_6 = frozenset(("ip6-localhost", "ip6-loopback", "localhost6.localdomain6"))
_METADATA = frozenset(
    (
        *("metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal", "fd00:ec2::254"),
        *("metadata.tencentyun.com", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    )
)
"""Where clouds answer with credentials besides 169.254.0.0/16."""
_CARRIERS = (
    *((ipaddress.IPv6Network(network), 0) for network in ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""Networks of IPv6 whose addresses hold one of IPv4, so many bits before the end."""


def host_of(source: str) -> str:
    """The host of a URL, or of git's `user@host:path`, as programs look it up; empty for a path on this machine."""
    text = _FORCED.sub("", source, count=1)
    if "://" in text:
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
        except ValueError:
            return text.partition("://")[2].partition("/")[0].lower()
        return _plain(host) + ("\\" if "\\" in parts.netloc else "")  # some programs end it there, and some do not
    matched = _SCP.match(text)
    if matched is None:
        return ""
    host = matched[1].strip("[]").rpartition("@")[2]  # git takes the user and the port in brackets, too
    return _plain(host.partition(":")[0] if host.count(":") == 1 else host)


def _plain(host: str) -> str:
    """A host in the form that it is looked up in: programs decode it, and replace other letters of the same meaning."""
    name, percent, zone = host.partition("%") if ":" in host else (unquote(host), "", "")
    name = "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")
    return (name.replace("\u3002", ".") + percent + zone).rstrip(".").lower()


def is_near(host: str) -> bool:
    """Whether a host is this machine, or on its link, or one that programs do not agree on. Names are not resolved."""
    if host in _THIS_MACHINE or host in _THIS_MACHINE_6 or host.endswith(".localhost") or is_on_link(host):
        return True
    address = _address(host)
    return _UNCLEAR.search(host) is not None if address is None else address.is_loopback or address.is_unspecified


def is_on_link(host: str) -> bool:
    """Whether a host is an address of this machine's link, where clouds answer with credentials."""
    address = _address(host)
    return host in _METADATA or (address is not None and (address.is_link_local or str(address) in _METADATA))


def may_lead(source: str, target: str) -> bool:
    """Whether a server may lead to another URL where no policy says so: to its own host, and to others that are not
    near, or not nearer than itself.
    """
    host = host_of(target)
    return host == host_of(source) or not (is_on_link(host) or (is_near(host) and not is_near(host_of(source))))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is, also by one of the old spellings: `127.1`, `2130706433`, `0x7f.0.0.1`."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host)) if host and not host[-1].isspace() else None
        except (OSError, ValueError):
            return None
    return _carried(address) if isinstance(address, ipaddress.IPv6Address) else address


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address of IPv4 that one of IPv6 stands for; else itself."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    for network, shift in _CARRIERS:
        inner = int(address) >> shift & 0xFFFFFFFF
        if address in network and inner > 1:  # `::` and `::1` are themselves
            return ipaddress.IPv4Address(inner)
    return address
