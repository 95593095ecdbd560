"""Times and durations as Kubernetes and Go write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
_PART = re.compile(rf"({_NUMBER})(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"(?:{_NUMBER}(?:ns|us|µs|μs|ms|s|m|h))+")

# What is read can be added without leaving the years that Python knows.
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_LONGEST = timedelta(days=365 * 900)


def read_duration(text: str) -> timedelta | None:
    """A number of seconds (`30`) or a Go duration (`1h30m`), not negative; None if it is neither or too large."""
    text = text.strip()
    if re.fullmatch(_NUMBER, text):
        seconds = float(text)
    elif _DURATION.fullmatch(text):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    else:
        return None
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
