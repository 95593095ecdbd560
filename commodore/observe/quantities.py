"""Times and durations in the forms of Kubernetes and Go."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from commodore.base.values.units import parse_go_duration

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")

# Sums of accepted values stay within Python's range of years.
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_LONGEST = timedelta(days=365 * 900)


def read_duration(text: str) -> timedelta | None:
    """Parse seconds (`30`) or a Go duration (`1h30m`), not negative; None if it is invalid or too large."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        seconds = float(text)
    else:
        nanoseconds = parse_go_duration(text)
        if nanoseconds is None or nanoseconds < 0:
            return None
        seconds = nanoseconds / 1e9
    return timedelta(seconds=seconds) if seconds <= _LONGEST.total_seconds() else None


def read_time(text: str) -> datetime | None:
    """Parse a time of RFC 3339, in UTC; None if it is invalid, or after the year 9000. Without an offset it is UTC."""
    try:
        time = datetime.fromisoformat(text.strip().upper())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time <= LATEST else None


def show_time(time: datetime) -> str:
    """Format a time for text and JSON, to the second: `2026-01-02T03:04:05Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def show_duration(duration: timedelta) -> str:
    """Format a duration for text: `1h30m`, `45s`; fractions of seconds are rounded up."""
    seconds = -int(-duration.total_seconds() // 1)
    hours, seconds = divmod(max(seconds, 0), 3600)
    minutes, seconds = divmod(seconds, 60)
    text = (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")
    return text + (f"{seconds}s" if seconds or not text else "")
