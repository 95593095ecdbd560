"""Which answers are asked for again, and when."""

from __future__ import annotations

from collections.abc import Mapping

REPEATED_STATUSES = frozenset({429, 502, 503, 504})
"""Too many requests, and proxies or servers that are not ready. 500 is none: the request itself has failed."""


def retry_after(headers: Mapping[str, str]) -> float:
    """The pause in seconds that `Retry-After` asks for; 0 if it does not, or makes no sense."""
    import urllib3
    from urllib3.util.retry import Retry

    try:
        return Retry().parse_retry_after(headers.get("Retry-After", "0"))
    except (urllib3.exceptions.HTTPError, ValueError, OverflowError):
        return 0.0
