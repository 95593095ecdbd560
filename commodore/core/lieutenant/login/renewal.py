"""Renewal of stored logins without the user."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, PolicyError
from commodore.base.events import Noted, Warned
from commodore.core.lieutenant.jwt import claims_of, is_expired
from commodore.core.lieutenant.login._oidc_client import ProviderClient
from commodore.core.lieutenant.login.exchange import refresh
from commodore.core.lieutenant.login.flow import Login, login_of
from commodore.core.lieutenant.login.options import LoginOptions
from commodore.core.lieutenant.login.provider import IdentityProvider, discover, find_client, issuer_discovery
from commodore.core.lieutenant.login.verification import verify
from commodore.core.lieutenant.token_store import Entry, TokenStore
from commodore.core.lieutenant.tokens import can_renew, id_token_of


def current_login(
    options: LoginOptions, store: TokenStore, context: Context, *, now: Callable[[], float] = time.time
) -> Login | None:
    """Return the stored login for the API, renewed if it has expired and can be renewed; None without a valid login.

    Renewing opens no browser, shows no prompt, and takes no longer than the timeout of one request.

    Raises:
        EnvironmentFault: the store or its keyring cannot be used.
    """
    if not options.api_url:
        return None
    entry = store.read(options.api_url)
    login = _good_login(entry, now)
    if login is not None or not can_renew(entry):
        return login
    with store.locked():
        # Another process may have renewed it meanwhile, and many providers accept a refresh token only once.
        entry = store.read(options.api_url)
        login = _good_login(entry, now)
        if login is not None or not can_renew(entry):
            return login
        try:
            return _renew(options, store, entry or {}, context)
        except CommodoreError as error:
            context.announce(
                Warned(
                    "CMD-LOGIN-054",
                    f"the login to {options.api_url} has expired and could not be renewed: {error.message}",
                    hint="log in again with `commodore login`",
                )
            )
            return None


def provider_of(entry: Entry, options: LoginOptions, http: ProviderClient, context: Context) -> IdentityProvider:
    """Return the provider that issued the tokens of an entry: tokens are sent only to their issuer.

    Raises:
        CommodoreError: it is no longer known, or cannot be reached.
    """
    issuer = str(claims_of(str(entry.get("id_token"))).get("iss", ""))
    try:
        provider = discover(options.discovery_url or issuer_discovery(issuer), http)
    except CommodoreError:
        if options.discovery_url:
            raise
        client = find_client(options.api_url, None, None, context, timeout=options.timeout, deadline=http.deadline)
        provider = discover(client.discovery_url, http)
    if provider.issuer != issuer:
        raise PolicyError(
            "CMD-LOGIN-026",
            f"the stored login was not issued by {provider.issuer}, so its tokens are not sent there",
            hint="log in again with `commodore login`",
        )
    return provider


def client_of(entry: Entry, options: LoginOptions) -> str:
    """Return the client for which the tokens of an entry were issued."""
    claims = claims_of(str(entry.get("id_token")))
    audience: Any = claims.get("azp") or claims.get("aud")
    first = audience[0] if isinstance(audience, list) and audience else audience
    return options.client_id or (first if isinstance(first, str) else "")


def _renew(options: LoginOptions, store: TokenStore, entry: Entry, context: Context) -> Login:
    """Exchange the refresh token and store the new tokens. Call it within the store's lock."""
    deadline = time.monotonic() + options.timeout
    with ProviderClient(
        options.timeout, Context(context.announce, context.limits), deadline=deadline, attempts=1
    ) as http:
        provider, client = provider_of(entry, options, http, context), client_of(entry, options)
        tokens = refresh(provider, client, str(entry["refresh_token"]), http)
        subject = claims_of(str(entry.get("id_token"))).get("sub")
        known = subject if isinstance(subject, str) else None
        identity = verify(tokens.id_token, provider, client, http, subject=known)
    url = options.api_url or ""
    store.write(url, tokens.entry, keyring=options.keyring or store.uses_keyring(url))
    context.announce(Noted(f"the login to {url} was renewed", level=1))
    return Login(identity, tokens.id_token)


def _good_login(entry: Entry | None, now: Callable[[], float]) -> Login | None:
    """Return the login of an entry whose token has not expired; else None."""
    token = id_token_of(entry)
    return login_of(token) if token and not is_expired(token, now()) else None
