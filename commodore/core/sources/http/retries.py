"""Retries: statuses and pauses."""

from __future__ import annotations

from collections.abc import Mapping

REPEATED_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses to retry: too many requests, and servers that are not ready. Not 500: the request itself has failed."""


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the pause of `Retry-After` in seconds; 0 if it is missing or invalid."""
    import urllib3
    from urllib3.util.retry import Retry

    try:
        return Retry().parse_retry_after(headers.get("Retry-After", "0"))
    except (urllib3.exceptions.HTTPError, ValueError, OverflowError):
        return 0.0
