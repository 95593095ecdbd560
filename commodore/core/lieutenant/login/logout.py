"""Logout: remove the stored tokens, and revoke them at the identity provider (RFC 7009)."""

from __future__ import annotations

import time
from dataclasses import replace

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Warned
from commodore.core.lieutenant.login._oidc_client import ProviderClient, refused
from commodore.core.lieutenant.login.options import LoginOptions
from commodore.core.lieutenant.login.renewal import client_of, provider_of
from commodore.core.lieutenant.token_store import Entry, TokenStore


def log_out(options: LoginOptions, store: TokenStore, context: Context) -> bool:
    """End the login to an API. Returns True if there was one. Tokens that cannot be revoked are removed, too.

    Raises:
        EnvironmentFault: the store or its keyring cannot be used.
    """
    url = options.api_url or ""
    with store.locked():
        entry = store.read(url)
        if entry is None and not store.has(url):
            return False
        store.remove(url)
    if entry is not None:
        _revoke(options, entry, context)
    return True


def log_out_of_all(options: LoginOptions, store: TokenStore, context: Context) -> list[str]:
    """End all logins, and remove the file. Returns the URLs of their APIs.

    Raises: see `log_out`.
    """
    urls = store.api_urls()
    ended = [url for url in urls if log_out(replace(options, api_url=url), store, context)]
    with store.locked():
        store.clear()
    return ended


def _revoke(options: LoginOptions, entry: Entry, context: Context) -> None:
    """Revoke the tokens at the provider, if it has a revocation endpoint."""
    kind = "refresh_token" if isinstance(entry.get("refresh_token"), str) else "access_token"
    token = entry.get(kind)
    if not isinstance(token, str) or not token:
        return
    deadline = time.monotonic() + options.timeout
    try:
        with ProviderClient(
            options.timeout, Context(context.announce, context.limits), deadline=deadline, attempts=1
        ) as http:
            provider = provider_of(entry, options, http, context)
            if provider.revocation_endpoint is None:
                return
            from oauthlib.common import urlencode

            form = urlencode([("token", token), ("token_type_hint", kind), ("client_id", client_of(entry, options))])
            answer = http.post(provider.revocation_endpoint, form, "the revocation", (token,), empty=True)
            if answer.error:
                raise refused(answer.error, answer.description)
    except CommodoreError as error:
        context.announce(
            Warned(
                "CMD-LOGIN-053",
                f"the tokens were removed here, but the identity provider could not be notified: {error.message}",
                hint="end the session at the identity provider, or let the tokens expire",
            )
        )
