"""Ages and sizes as people write and read them."""

from __future__ import annotations

import re

from commodore.base.errors import UsageError
from commodore.base.printable import counted

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_AGE = re.compile(r"([0-9]{1,9})([smhdw])")
_SIZE = re.compile(r"([0-9]{1,15})(?:([KMGT])(?:iB|B)?|B)?", re.IGNORECASE)
_STEPS = ((86400, "day"), (3600, "hour"), (60, "minute"))


def parse_age(text: str) -> float:
    """Seconds of an age like `90m`, `12h`, `30d` or `2w`.

    Raises:
        UsageError: CMD-CACHE-001, it is none.
    """
    match = _AGE.fullmatch(text)
    if match is None:
        raise UsageError("CMD-CACHE-001", f"{text!r} is not a valid age", hint="write it like 90m, 12h, 30d or 2w")
    return float(int(match[1]) * _SECONDS[match[2]])


def parse_size(text: str) -> int:
    """Bytes of a size like `500M` or `5G`; K is 1024 bytes, M 1024 K, and so on.

    Raises:
        UsageError: CMD-CACHE-002, it is none.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError("CMD-CACHE-002", f"{text!r} is not a valid size", hint="write it like 500M or 5G")
    return int(match[1]) * _BYTES[(match[2] or "").upper()]


def size_text(size: int) -> str:
    """A size for people."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def age_text(seconds: float) -> str:
    """How long ago something was, for people."""
    for length, name in _STEPS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{counted(count, name)} ago"
    return "just now"
