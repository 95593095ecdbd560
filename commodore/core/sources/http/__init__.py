"""HTTP under one policy: time, size, redirects, credentials, retries, proxies and certificate authorities.

Each user gives the `Client` a table of what its failures mean (`Meaning` by `Problem`) and gets errors of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.sources.http.client import Answer, Client, Policy, Sink
    from commodore.core.sources.http.connections import netrc_credentials
    from commodore.core.sources.http.faults import PROXY_HINT, UNTRUSTED_HINT, Fault, Meaning, Meanings, Problem
    from commodore.core.sources.http.retries import retry_after
    from commodore.core.sources.http.urls import is_loopback, same_server, without_credentials

__getattr__ = lazy_exports(
    __name__,
    {
        "client": ("Answer", "Client", "Policy", "Sink"),
        "connections": ("netrc_credentials",),
        "faults": ("Fault", "Meaning", "Meanings", "PROXY_HINT", "Problem", "UNTRUSTED_HINT"),
        "retries": ("retry_after",),
        "urls": ("is_loopback", "same_server", "without_credentials"),
    },
)
__all__ = [
    "Answer",
    "Client",
    "Fault",
    "Meaning",
    "Meanings",
    "PROXY_HINT",
    "Policy",
    "Problem",
    "Sink",
    "UNTRUSTED_HINT",
    "is_loopback",
    "netrc_credentials",
    "retry_after",
    "same_server",
    "without_credentials",
]
