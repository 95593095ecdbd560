"""Which token is used for the API: given, from a file, or cached by an earlier login (spec a 4.1 and 11.2)."""

from __future__ import annotations

import base64
import binascii
import errno
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commodore.errors import InputError
from commodore.events import Announce, Noted, Warned
from commodore.limits import DEFAULT_LIMITS, Limits

_SPARE_SECONDS = 10
"""A token that lives no longer than this counts as expired (spec a 4.1)."""

_FOREVER = 1 << 62
"""An expiry beyond this, which a float might not even hold, is as good as this one."""


def resolve_token(
    given: str | None,
    api_url: str | None,
    cache_file: Path | None,
    announce: Announce,
    *,
    now: Callable[[], float] = time.time,
    limits: Limits = DEFAULT_LIMITS,
) -> str | None:
    """The token to use, or None if there is none that is still valid.

    Args:
        given: what the user gave: a token, or the path of a file that holds one. Blank text counts as nothing.
        api_url: the API's URL as the user spelt it; the cache is keyed by it.
        cache_file: where tokens of logins are kept (spec a 11.2).
        announce: hears of expired tokens.
        now: seconds since the epoch.

    Raises:
        InputError: `given` looks like a path but no file is there, or the file cannot be read or is too large.
    """
    token = _given_token(given, limits)
    expired = token is not None and _is_expired(token, now)
    if token is not None and not expired:
        return token
    cached = None if api_url is None or cache_file is None else cached_token(api_url, cache_file, limits=limits)
    if cached is not None and not _is_expired(cached, now):
        if expired:
            announce(Noted("the API token given has expired; the one of the last login is used", level=1))
        return cached
    if expired or cached is not None:
        which = "given" if expired else "of the last login"
        announce(
            Warned(
                "CMD-API-051", f"the API token {which} has expired", hint="get a new one from your identity provider"
            )
        )
    return None


def cached_token(api_url: str, cache_file: Path, *, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """The `id_token` that the cache has for this URL, spelt like that or with or without a slash at its end.

    A cache that is missing or damaged counts as empty.
    """
    entries = _read_cache(cache_file, limits)
    bare = api_url.rstrip("/")
    for key in (api_url, bare, f"{bare}/"):
        entry = entries.get(key)
        token = entry.get("id_token") if isinstance(entry, dict) else None
        if isinstance(token, str) and token.strip():
            return token.strip()
    return None


def token_expiry(token: str) -> float | None:
    """When a JWT expires, in seconds since the epoch; None if it does not tell. The signature is not checked."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    expiry = claims.get("exp") if isinstance(claims, dict) else None
    if isinstance(expiry, bool) or not isinstance(expiry, int | float):
        return None
    return float(min(expiry, _FOREVER))


def _is_expired(token: str, now: Callable[[], float]) -> bool:
    expiry = token_expiry(token)
    return expiry is not None and expiry < now() + _SPARE_SECONDS


def _given_token(given: str | None, limits: Limits) -> str | None:
    text = (given or "").strip()
    if not text:
        return None
    try:
        with Path(text).open("rb") as file:
            content = file.read(limits.token_bytes + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if "/" in text:
            raise _unusable(
                "the API token looks like the path of a file, but there is no such file",
                "check the path; a token that really has a slash in it can be given in a file",
            ) from error
        return text
    except ValueError:  # a zero byte: no path, and no token either, which is found when it is used
        return text
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return text
        raise _unusable(f"the API token's file {text} cannot be read: {error.strerror}") from error
    if len(content) > limits.token_bytes:
        raise _unusable(f"the API token's file {text} is larger than {limits.token_bytes} bytes")
    try:
        return content.decode().strip() or None
    except UnicodeDecodeError as error:
        raise _unusable(f"the API token's file {text} does not hold text") from error


def _read_cache(cache_file: Path, limits: Limits) -> dict[str, Any]:
    try:
        with cache_file.open("rb") as file:
            content = file.read(limits.token_cache_bytes + 1)
        entries = json.loads(content) if len(content) <= limits.token_cache_bytes else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _unusable(message: str, hint: str = "give the token itself, or the path of a file that holds it") -> InputError:
    return InputError("CMD-API-005", message, hint=hint)
