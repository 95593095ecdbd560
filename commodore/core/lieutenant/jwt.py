"""Claims of a JWT, without verification: only for one's own tokens that are about to be sent."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

SPARE_SECONDS = 10
"""Seconds before its expiry from which a token is treated as expired."""

_FOREVER = 1 << 62
"""Upper bound of expiries, in seconds since the epoch, because a float may not hold larger ones."""


def claims_of(token: str) -> Mapping[str, Any]:
    """Return the claims of a JWT; empty for other tokens. The signature is not checked."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def token_expiry(token: str) -> float | None:
    """Return the expiry of a JWT in seconds since the epoch; None without one. The signature is not checked."""
    expiry = claims_of(token).get("exp")
    if isinstance(expiry, bool) or not isinstance(expiry, int | float):
        return None
    return float(min(expiry, _FOREVER))


def is_expired(token: str, now: float) -> bool:
    """Check if a token has expired. A token without an expiry never expires."""
    expiry = token_expiry(token)
    return expiry is not None and expiry < now + SPARE_SECONDS
