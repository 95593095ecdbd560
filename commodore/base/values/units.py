"""Ages and sizes for users, and durations in Go's form."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from commodore.base.errors import UsageError
from commodore.base.printable import counted

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_AGE = re.compile(r"([0-9]{1,9})([smhdw])")
_SIZE = re.compile(r"([0-9]{1,15})(?:([KMGT])(?:iB|B)?|B)?", re.IGNORECASE)
GO_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
"""Nanoseconds of the units of Go's durations."""
_GO_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_GO_DURATION = re.compile(rf"([+-]?)(0|(?:{_GO_PART.pattern})+)")
_LONGEST = 100  # the most characters of a canonical duration
_STEPS = ((86400, "day"), (3600, "hour"), (60, "minute"))


def age_seconds(text: str) -> int | None:
    """Return the seconds of an age like `90s`, `15m`, `12h`, `30d` or `2w`; None if it is invalid."""
    match = _AGE.fullmatch(text)
    return int(match[1]) * _SECONDS[match[2]] if match is not None else None


def parse_age(text: str) -> float:
    """Return the seconds of an age like `90m`, `12h`, `30d` or `2w`.

    Raises:
        UsageError: CMD-CACHE-001, it is invalid.
    """
    seconds = age_seconds(text)
    if seconds is None:
        raise UsageError("CMD-CACHE-001", f"{text!r} is not a valid age", hint="write it like 90m, 12h, 30d or 2w")
    return float(seconds)


def parse_size(text: str) -> int:
    """Return the bytes of a size like `500M` or `5G`; K is 1024 bytes, M 1024 K, and so on.

    Raises:
        UsageError: CMD-CACHE-002, it is invalid.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError("CMD-CACHE-002", f"{text!r} is not a valid size", hint="write it like 500M or 5G")
    return int(match[1]) * _BYTES[(match[2] or "").upper()]


def size_text(size: int) -> str:
    """Format a size."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def age_text(seconds: float) -> str:
    """Format the time since an event."""
    for length, name in _STEPS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{counted(count, name)} ago"
    return "just now"


def parse_go_duration(text: str) -> int | None:
    """Parse a duration of Go (`1h30m`, `-1.5s`, `0`), in nanoseconds; None if it is invalid, or needs more than 63
    bits.
    """
    match = _GO_DURATION.fullmatch(text)
    if match is None:
        return None
    size = sum(int(Decimal(number) * GO_UNITS[unit]) for number, unit in _GO_PART.findall(match[2]))
    if size >= 1 << 63:
        return None
    return -size if match[1] == "-" else size


def go_duration_text(nanoseconds: int) -> str:
    """Format a duration as Go does: `1h2m0.5s`."""
    if nanoseconds == 0:
        return "0s"
    sign, size = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    for unit, name in ((10**3, "ns"), (10**6, "µs"), (10**9, "ms")):
        if size < unit:
            return f"{sign}{_fraction(size, unit // 1000)}{name}"
    minutes, rest = divmod(size, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_fraction(rest, 10**9)}s"
    if minutes or hours:
        text = f"{minutes}m{text}"
    return sign + (f"{hours}h{text}" if hours else text)


def canonical_go_duration(value: object) -> str | None:
    """Return the canonical form of a duration of Go: `90m` is `1h30m0s`; None if it is invalid."""
    nanoseconds = parse_go_duration(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    return go_duration_text(nanoseconds) if nanoseconds is not None else None


def _fraction(size: int, unit: int) -> str:
    whole, rest = divmod(size, unit)
    digits = str(rest).zfill(len(str(unit)) - 1).rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)


def moment_text(seconds: float | None) -> str | None:
    """Format a time, in seconds since 1970, as RFC 3339 in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
