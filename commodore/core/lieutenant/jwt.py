"""What a JWT says, without asking whether it is true: good for one's own tokens, when they are about to be sent."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

SPARE_SECONDS = 10
"""A token that lives no longer than this counts as expired."""

_FOREVER = 1 << 62
"""An expiry beyond this, which a float might not even hold, is as good as this one."""


def claims_of(token: str) -> Mapping[str, Any]:
    """The claims of a JWT; none if it is something else. The signature is not checked."""
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
    """When a JWT expires, in seconds since the epoch; None if it does not tell. The signature is not checked."""
    expiry = claims_of(token).get("exp")
    if isinstance(expiry, bool) or not isinstance(expiry, int | float):
        return None
    return float(min(expiry, _FOREVER))


def is_expired(token: str, now: float) -> bool:
    """Whether a token is no longer worth sending. One that does not say when it expires does not."""
    expiry = token_expiry(token)
    return expiry is not None and expiry < now + SPARE_SECONDS
