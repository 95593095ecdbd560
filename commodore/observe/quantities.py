"""Times and durations as Kubernetes and Go write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from commodore.base.values.units import parse_go_duration

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")

# What is read can be added without leaving the years that Python knows.
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_LONGEST = timedelta(days=365 * 900)


def read_duration(text: str) -> timedelta | None:
    """A number of seconds (`30`) or a Go duration (`1h30m`), not negative; None if it is neither or too large."""
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
    """A time as RFC 3339 writes it, in UTC; None if it is none, or after the year 9000. Without an offset it is UTC."""
    try:
        time = datetime.fromisoformat(text.strip().upper())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time <= LATEST else None


def show_time(time: datetime) -> str:
    """A time for people and for JSON, to the second: `2026-01-02T03:04:05Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def show_duration(duration: timedelta) -> str:
    """A duration for people: `1h30m`, `45s`; parts of seconds are rounded up."""
    seconds = -int(-duration.total_seconds() // 1)
    hours, seconds = divmod(max(seconds, 0), 3600)
    minutes, seconds = divmod(seconds, 60)
    text = (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")
    return text + (f"{seconds}s" if seconds or not text else "")
