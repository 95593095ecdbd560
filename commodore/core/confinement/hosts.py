"""The host of a source, and the check for addresses of this machine or its link, in every spelling."""

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
"""Addresses, in addition to 169.254.0.0/16, at which clouds serve credentials."""
_CARRIERS = (
    *((ipaddress.IPv6Network(network), 0) for network in ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""IPv6 networks whose addresses contain an IPv4 address, with the number of bits after it."""


def host_of(source: str) -> str:
    """Return the host of a URL, or of git's `user@host:path`, as programs resolve it; empty for a local path."""
    text = _FORCED.sub("", source, count=1)
    if "://" in text:
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
        except ValueError:
            return text.partition("://")[2].partition("/")[0].lower()
        return _plain(host) + ("\\" if "\\" in parts.netloc else "")  # some programs end the host there
    matched = _SCP.match(text)
    if matched is None:
        return ""
    host = matched[1].strip("[]").rpartition("@")[2]  # git takes the user and the port in brackets, too
    return _plain(host.partition(":")[0] if host.count(":") == 1 else host)


def _plain(host: str) -> str:
    """Normalize a host as programs do before they resolve it: they decode it, and replace equivalent letters."""
    name, percent, zone = host.partition("%") if ":" in host else (unquote(host), "", "")
    name = "".join(
        character for character in unicodedata.normalize("NFKC", name) if unicodedata.category(character) != "Cf"
    )
    return (name.replace("\u3002", ".") + percent + zone).rstrip(".").lower()


def is_near(host: str) -> bool:
    """Return True if a host is this machine, on its link, or read differently by programs. Names are not resolved."""
    if host in _THIS_MACHINE or host in _THIS_MACHINE_6 or host.endswith(".localhost") or is_on_link(host):
        return True
    address = _address(host)
    return _UNCLEAR.search(host) is not None if address is None else address.is_loopback or address.is_unspecified


def is_on_link(host: str) -> bool:
    """Return True if a host is an address of this machine's link, at which clouds serve credentials."""
    address = _address(host)
    return host in _METADATA or (address is not None and (address.is_link_local or str(address) in _METADATA))


def may_lead(source: str, target: str) -> bool:
    """Return True if a server may redirect to another URL without a policy: to its own host, or to a host that is not
    nearer to this machine than itself.
    """
    host = host_of(target)
    return host == host_of(source) or not (is_on_link(host) or (is_near(host) and not is_near(host_of(source))))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that a host spells, also in an old form: `127.1`, `2130706433`, `0x7f.0.0.1`."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host)) if host and not host[-1].isspace() else None
        except (OSError, ValueError):
            return None
    return _carried(address) if isinstance(address, ipaddress.IPv6Address) else address


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the IPv4 address in an IPv6 address, or the address itself."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    for network, shift in _CARRIERS:
        inner = int(address) >> shift & 0xFFFFFFFF
        if address in network and inner > 1:  # `::` and `::1` are themselves
            return ipaddress.IPv4Address(inner)
    return address
