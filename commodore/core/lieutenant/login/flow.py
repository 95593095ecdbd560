"""Login, from the options to the stored tokens."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.base.events import Noted, PageToVisit
from commodore.core.lieutenant import keyring_entries
from commodore.core.lieutenant.jwt import claims_of, token_expiry
from commodore.core.lieutenant.login._oidc_client import ProviderClient, refused, shortened, unusable
from commodore.core.lieutenant.login.authorization import AuthorizationRequest, new_request
from commodore.core.lieutenant.login.browser import has_browser, open_browser
from commodore.core.lieutenant.login.callback import Callback, listening
from commodore.core.lieutenant.login.device import DeviceFlowRefused, log_in_with_device
from commodore.core.lieutenant.login.exchange import TokenAnswer, exchange_code
from commodore.core.lieutenant.login.options import LoginOptions
from commodore.core.lieutenant.login.provider import IdentityProvider, OidcClient, discover, find_client
from commodore.core.lieutenant.login.verification import Identity, verify
from commodore.core.lieutenant.token_store import TokenStore


@dataclass(frozen=True, slots=True)
class Login:
    """A login: the identity of the user, and the token."""

    identity: Identity
    id_token: str = field(repr=False)


def log_in(options: LoginOptions, store: TokenStore, context: Context) -> Login:
    """Log in a user, verify the identity, and store the tokens, within `limits.login_seconds`.

    Raises:
        UsageError: the identity provider is unknown, or the callback's address is invalid.
        InputError: the login was denied, or the provider does not support the device flow.
        EnvironmentFault: the provider cannot be reached or refuses, the port is in use, or the login timed out.
        PolicyError: a URL is not encrypted, or the ID token cannot be trusted.
    """
    if options.keyring:
        keyring_entries.check_available()
    deadline = time.monotonic() + context.limits.login_seconds
    client = find_client(
        options.api_url, options.client_id, options.discovery_url, context, timeout=options.timeout, deadline=deadline
    )
    with ProviderClient(options.timeout, Context(context.announce, context.limits), deadline=deadline) as http:
        provider = discover(client.discovery_url, http)

        def conclude(tokens: TokenAnswer, nonce: str | None) -> Login:
            identity = verify(tokens.id_token, provider, client.client_id, http, nonce=nonce)
            if options.api_url:
                with store.locked():
                    store.write(options.api_url, tokens.entry, keyring=options.keyring)
            return Login(identity, tokens.id_token)

        attempt = _Attempt(options, client, provider, http, context, conclude)
        return attempt.run()


def login_of(id_token: str) -> Login:
    """Return the login of a stored token, which was verified before it was stored."""
    claims = claims_of(id_token)

    def text(*keys: str) -> str:
        return next((shortened(claims[key]) for key in keys if isinstance(claims.get(key), str)), "")

    expires = token_expiry(id_token)
    identity = Identity(
        text("sub"), text("name", "preferred_username"), text("email"), float("inf") if expires is None else expires
    )
    return Login(identity, id_token)


@dataclass(frozen=True, slots=True)
class _Attempt:
    options: LoginOptions
    client: OidcClient
    provider: IdentityProvider
    http: ProviderClient
    context: Context
    conclude: Callable[[TokenAnswer, str | None], Login]

    def run(self) -> Login:
        """Log in by the device flow or by a browser."""
        if self.options.device:
            try:
                return self._with_device()
            except DeviceFlowRefused as refusal:
                raise refusal.args[0] from None
        if self.options.device is None and self.provider.device_endpoint is not None and not has_browser():
            try:
                return self._with_device()
            except DeviceFlowRefused as refusal:
                self.context.announce(Noted(f"the device flow is not available: {refusal.args[0].message}", level=1))
        return self._with_browser()

    def _with_device(self) -> Login:
        tokens = log_in_with_device(self.provider, self.client.client_id, self.http, self.context)
        return self.conclude(tokens, None)

    def _with_browser(self) -> Login:
        with listening(self.options.callback, self.context.limits, self.context.announce) as server:
            request = new_request(self.provider, self.client.client_id, server.redirect_uri)
            server.start(request.state)
            opened = has_browser()
            self.context.announce(PageToVisit(request.url, opened=opened))
            if opened:
                open_browser(request.url)
            callback = server.wait(self.http.deadline)
            if callback is None:
                raise EnvironmentFault(
                    "CMD-LOGIN-033",
                    f"the login timed out: the browser did not return within {self.context.limits.login_seconds:g} s",
                    hint="if the browser could not come back to this machine, try --device, or see --callback-address",
                )
            try:
                login = self.conclude(self._redeem(callback, request), request.nonce)
            except CommodoreError as error:
                callback.fail(error.message, self.context.limits)
                raise
            callback.succeed(self.context.limits)
            return login

    def _redeem(self, callback: Callback, request: AuthorizationRequest) -> TokenAnswer:
        """Return the tokens for a callback with the state of this login."""
        if callback.error:
            raise refused(shortened(callback.error), shortened(callback.description))
        issuer = callback.issuer
        if (issuer is not None or self.provider.names_issuer) and not hmac.compare_digest(
            (issuer or "").encode(errors="replace"), self.provider.issuer.encode()
        ):
            raise PolicyError(
                "CMD-LOGIN-025",
                "the response came from another identity provider than the contacted one",
                hint="try again, and contact the operators of the identity provider if it persists",
            )
        if not callback.code:
            raise unusable("the identity provider sent the browser back without a code")
        return exchange_code(self.provider, self.client.client_id, request, callback.code, self.http)
