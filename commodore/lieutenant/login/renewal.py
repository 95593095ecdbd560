"""A valid token whenever one is needed: given, kept, renewed without help, or by a new login (spec a 4.1, 8.4)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from commodore.errors import CommodoreError, PolicyError
from commodore.events import Announce, Noted, Warned
from commodore.lieutenant._jwt import claims_of, is_expired
from commodore.lieutenant.login._wire import Wire
from commodore.lieutenant.login.exchange import refresh
from commodore.lieutenant.login.flow import Login, LoginOptions, log_in, login_of
from commodore.lieutenant.login.provider import IdentityProvider, discover, find_client, issuer_discovery
from commodore.lieutenant.login.verification import verify
from commodore.lieutenant.token_store import Entry, TokenStore
from commodore.lieutenant.tokens import expiry_warning, id_token_of
from commodore.limits import DEFAULT_LIMITS, Limits


def current_login(
    options: LoginOptions,
    store: TokenStore,
    announce: Announce,
    *,
    limits: Limits = DEFAULT_LIMITS,
    now: Callable[[], float] = time.time,
) -> Login | None:
    """The login that is kept for the API, renewed if it has expired and can be renewed; None if there is none.

    Renewing opens no browser, asks nobody, and takes no longer than one request may.

    Raises:
        EnvironmentFault: the store or its keyring cannot be used.
    """
    if not options.api_url:
        return None
    entry = store.read(options.api_url)
    login = _good_login(entry, now)
    if login is not None or not _can_renew(entry):
        return login
    with store.locked():
        # Another process may have renewed it meanwhile, and many providers accept a refresh token once only.
        entry = store.read(options.api_url)
        login = _good_login(entry, now)
        if login is not None or not _can_renew(entry):
            return login
        try:
            return _renew(options, store, entry or {}, announce, limits)
        except CommodoreError as error:
            announce(
                Warned(
                    "CMD-LOGIN-054",
                    f"the login to {options.api_url} has expired and could not be renewed: {error.message}",
                    hint="log in again with `commodore login`",
                )
            )
            return None


class TokenSource:
    """Gives the token for each request to the API, or None if there is none.

    Args:
        given: reads the token that the user gave, if any.
        may_log_in: whether somebody is there to log in.
    """

    def __init__(
        self,
        given: Callable[[], str | None],
        options: LoginOptions,
        store: TokenStore,
        announce: Announce,
        *,
        may_log_in: bool,
        limits: Limits = DEFAULT_LIMITS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._given = given
        self._options = options
        self._store = store
        self._announce = announce
        self._may_log_in = may_log_in
        self._limits = limits
        self._now = now
        self._login: Login | None = None
        self._noted = self._gave_up = False

    def __call__(self) -> str | None:
        """A token that has not expired.

        Raises:
            CommodoreError: what was given cannot be read, or the login has failed.
        """
        given = self._given()
        if given is not None and not is_expired(given, self._now()):
            return given
        if self._login is None or is_expired(self._login.id_token, self._now()):
            self._login = self._new_login()
        if self._login is None:
            self._give_up(given=given is not None)
            return None
        if given is not None and not self._noted:
            self._noted = True
            self._announce(Noted("the API token given has expired; the one of the login is used", level=1))
        return self._login.id_token

    def _new_login(self) -> Login | None:
        if self._gave_up:
            return None
        login = current_login(self._options, self._store, self._announce, limits=self._limits, now=self._now)
        if login is None and self._may_log_in:
            return log_in(self._options, self._store, self._announce, limits=self._limits)
        return login

    def _give_up(self, *, given: bool) -> None:
        """Say why there is no token, once, if there has been one. A renewal that has failed has said so itself."""
        url = self._options.api_url
        entry = self._store.read(url) if url else None
        if not self._gave_up and not _can_renew(entry) and (given or id_token_of(entry)):
            self._announce(expiry_warning(given=given))
        self._gave_up = True


def provider_of(
    entry: Entry, options: LoginOptions, wire: Wire, announce: Announce, limits: Limits
) -> IdentityProvider:
    """The provider that has made the tokens of an entry, and no other: tokens go back to where they came from.

    Raises:
        CommodoreError: it is not known any more, or cannot be reached.
    """
    issuer = str(claims_of(str(entry.get("id_token"))).get("iss", ""))
    try:
        provider = discover(options.discovery_url or issuer_discovery(issuer), wire)
    except CommodoreError:
        if options.discovery_url:
            raise
        client = find_client(
            options.api_url,
            None,
            None,
            timeout=options.timeout,
            limits=limits,
            announce=announce,
            deadline=wire.deadline,
        )
        provider = discover(client.discovery_url, wire)
    if provider.issuer != issuer:
        raise PolicyError(
            "CMD-LOGIN-026",
            f"the login that is kept is not one of {provider.issuer}, so its tokens are not sent there",
            hint="log in again with `commodore login`",
        )
    return provider


def client_of(entry: Entry, options: LoginOptions) -> str:
    """The client that the tokens of an entry were made for."""
    claims = claims_of(str(entry.get("id_token")))
    audience: Any = claims.get("azp") or claims.get("aud")
    first = audience[0] if isinstance(audience, list) and audience else audience
    return options.client_id or (first if isinstance(first, str) else "")


def _renew(options: LoginOptions, store: TokenStore, entry: Entry, announce: Announce, limits: Limits) -> Login:
    """Exchange the refresh token and keep what comes. Call it within the store's lock."""
    deadline = time.monotonic() + options.timeout
    with Wire(options.timeout, limits, announce, deadline=deadline, attempts=1) as wire:
        provider, client = provider_of(entry, options, wire, announce, limits), client_of(entry, options)
        tokens = refresh(provider, client, str(entry["refresh_token"]), wire)
        subject = claims_of(str(entry.get("id_token"))).get("sub")
        identity = verify(
            tokens.id_token, provider, client, wire, limits, subject=subject if isinstance(subject, str) else None
        )
    url = options.api_url or ""
    store.write(url, tokens.entry, announce, keyring=options.keyring or store.uses_keyring(url))
    announce(Noted(f"the login to {url} was renewed", level=1))
    return Login(identity, tokens.id_token)


def _good_login(entry: Entry | None, now: Callable[[], float]) -> Login | None:
    """The login of an entry whose token has not expired."""
    token = id_token_of(entry)
    return login_of(token) if token and not is_expired(token, now()) else None


def _can_renew(entry: Entry | None) -> bool:
    token = entry.get("refresh_token") if entry else None
    return isinstance(token, str) and bool(token) and id_token_of(entry) is not None
