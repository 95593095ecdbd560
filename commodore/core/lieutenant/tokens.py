"""Selection of the API token: given, from a file, or of an earlier login."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InputError, UsageError
from commodore.base.events import Noted, Warned
from commodore.core.lieutenant.jwt import is_expired, token_expiry
from commodore.core.lieutenant.token_store import TokenStore


def resolve_token(
    given: str | None,
    api_url: str | None,
    cache_file: Path | None,
    context: Context,
    *,
    now: Callable[[], float] = time.time,
) -> str | None:
    """Return the token to use; None without a valid one. Neither the network nor the keyring is used.

    Args:
        given: the user's value: a token, or the path of a file with one. Blank text is ignored.
        api_url: the API's URL as spelt by the user, the key in the store.
        cache_file: the file of the token store.
        context: announces expired tokens.
        now: seconds since the epoch.

    Raises:
        InputError: `given` looks like a path but no file is there, or the file cannot be read or is too large.
    """
    token = given_token(given, context)
    expired = token is not None and is_expired(token, now())
    if token is not None and not expired:
        return token
    cached = None if api_url is None or cache_file is None else cached_token(api_url, TokenStore(cache_file, context))
    if cached is not None and not is_expired(cached, now()):
        if expired:
            context.announce(Noted("the given API token has expired; that of the last login is used", level=1))
        return cached
    if expired or cached is not None:
        which = "given" if expired else "of the last login"
        hint = "log in again with `commodore login`"
        context.announce(Warned("CMD-API-051", f"the API token {which} has expired", hint=hint))
    return None


def cached_token(api_url: str, store: TokenStore) -> str | None:
    """Return the `id_token` of the store for this URL, as spelt, or with or without a slash at the end. The keyring is
    not used.
    """
    return id_token_of(store.read(api_url, keyring=False))


def id_token_of(entry: Mapping[str, Any] | None) -> str | None:
    """Return the ID token of an entry of the store."""
    token = entry.get("id_token") if entry else None
    return token.strip() or None if isinstance(token, str) else None


def can_renew(entry: Mapping[str, Any] | None) -> bool:
    """Check if an entry of the store has a refresh token in addition to its ID token."""
    token = entry.get("refresh_token") if entry else None
    return isinstance(token, str) and bool(token) and id_token_of(entry) is not None


@dataclass(frozen=True, slots=True)
class AvailableToken:
    """The available token for the API.

    Attributes:
        what: a description of the token.
        usable: the token, if it has not expired.
        renewable: the login has expired, but can be renewed without the user.
    """

    what: str
    usable: str | None
    renewable: bool = False


def available_token(given: str | None, kept: Mapping[str, Any] | None, now: float) -> AvailableToken:
    """Return the token that commands would use: the given one, or that of the store's entry. Nothing is renewed.

    Args:
        now: seconds since the epoch.
    """
    if given is not None and not is_expired(given, now):
        return AvailableToken("the token given" + _lifetime(given), given)
    stored = id_token_of(kept)
    if stored is not None and not is_expired(stored, now):
        return AvailableToken("the token of the last login" + _lifetime(stored), stored)
    if can_renew(kept):
        return AvailableToken("the token of the last login has expired", None, renewable=True)
    if given is not None or stored is not None:
        return AvailableToken(f"the token {'given' if given is not None else 'of the last login'} has expired", None)
    return AvailableToken("there is no token", None)


def _lifetime(token: str) -> str:
    """Describe the expiry of a token; empty without one, or if the calendar does not have its time."""
    expiry = token_expiry(token)
    try:
        return "" if expiry is None else f", valid until {datetime.fromtimestamp(expiry, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


def expired_token(*, given: bool) -> UsageError:
    """Return the error for an expired token, given or of the last login, without another one."""
    which = "given" if given else "of the last login"
    return UsageError(
        "CMD-API-003",
        f"the API token {which} has expired",
        hint="log in again with `commodore login`, or give a new token with --api-token (COMMODORE_API_TOKEN)",
    )


def given_token(given: str | None, context: Context) -> str | None:
    """Return the token that the user gave, read from its file if it is a path.

    Raises:
        InputError: it looks like a path but no file is there, or the file cannot be read or is too large.
    """
    text = (given or "").strip()
    if not text:
        return None
    try:
        with Path(text).open("rb") as file:
            content = file.read(context.limits.token_bytes + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if "/" in text:
            raise _unusable(
                "the API token looks like the path of a file, but there is no such file",
                "check the path; a token with a slash in it can be given in a file",
            ) from error
        return text
    except ValueError:  # a zero byte: not a path, and not a token either, which is reported when it is used
        return text
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return text
        raise _unusable(f"the API token's file {text} cannot be read: {error.strerror}") from error
    if len(content) > context.limits.token_bytes:
        raise _unusable(f"the API token's file {text} is larger than {context.limits.token_bytes} bytes")
    try:
        return content.decode().strip() or None
    except UnicodeDecodeError as error:
        raise _unusable(f"the API token's file {text} does not hold text") from error


def _unusable(message: str, hint: str = "give the token itself, or the path of a file that holds it") -> InputError:
    return InputError("CMD-API-005", message, hint=hint)
