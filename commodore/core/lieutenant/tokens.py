"""Which token is used for the API: given, from a file, or cached by an earlier login."""

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
    """The token to use, or None if there is none that is still valid. Nothing is asked for: no network, no keyring.

    Args:
        given: what the user gave: a token, or the path of a file that holds one. Blank text counts as nothing.
        api_url: the API's URL as the user spelt it; the cache is keyed by it.
        cache_file: where tokens of logins are kept.
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
            context.announce(Noted("the API token given has expired; the one of the last login is used", level=1))
        return cached
    if expired or cached is not None:
        which = "given" if expired else "of the last login"
        hint = "log in again with `commodore login`"
        context.announce(Warned("CMD-API-051", f"the API token {which} has expired", hint=hint))
    return None


def cached_token(api_url: str, store: TokenStore) -> str | None:
    """The `id_token` that the store has for this URL, spelt like that or with or without a slash at its end. No keyring
    is asked.
    """
    return id_token_of(store.read(api_url, keyring=False))


def id_token_of(entry: Mapping[str, Any] | None) -> str | None:
    """The ID token of an entry of the store."""
    token = entry.get("id_token") if entry else None
    return token.strip() or None if isinstance(token, str) else None


def can_renew(entry: Mapping[str, Any] | None) -> bool:
    """Whether an entry of the store has a refresh token beside its ID token."""
    token = entry.get("refresh_token") if entry else None
    return isinstance(token, str) and bool(token) and id_token_of(entry) is not None


@dataclass(frozen=True, slots=True)
class HeldToken:
    """What there is to ask the API with.

    Attributes:
        what: it in words.
        usable: the token that has not expired, if there is one.
        renewable: whether a login whose token has expired can be renewed without the user.
    """

    what: str
    usable: str | None
    renewable: bool = False


def held_token(given: str | None, kept: Mapping[str, Any] | None, now: float) -> HeldToken:
    """The token that commands would use, from the one given and the entry of the store; none is renewed.

    Args:
        now: seconds since the epoch.
    """
    if given is not None and not is_expired(given, now):
        return HeldToken("the token given" + _lifetime(given), given)
    stored = id_token_of(kept)
    if stored is not None and not is_expired(stored, now):
        return HeldToken("the token of the last login" + _lifetime(stored), stored)
    if can_renew(kept):
        return HeldToken("the token of the last login has expired", None, renewable=True)
    if given is not None or stored is not None:
        return HeldToken(f"the token {'given' if given is not None else 'of the last login'} has expired", None)
    return HeldToken("there is none", None)


def _lifetime(token: str) -> str:
    """Until when a token is valid, in words; nothing if it does not say, or not in a time that calendars know."""
    expiry = token_expiry(token)
    try:
        return "" if expiry is None else f", valid until {datetime.fromtimestamp(expiry, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


def expired_token(*, given: bool) -> UsageError:
    """That the token given, or that of the last login, has expired and there is no other."""
    which = "given" if given else "of the last login"
    return UsageError(
        "CMD-API-003",
        f"the API token {which} has expired",
        hint="log in again with `commodore login`, or give a new token with --api-token (COMMODORE_API_TOKEN)",
    )


def given_token(given: str | None, context: Context) -> str | None:
    """What the user gave as token, read from its file if it is the path of one.

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
                "check the path; a token that really has a slash in it can be given in a file",
            ) from error
        return text
    except ValueError:  # a zero byte: no path, and no token either, which is found when it is used
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
