"""Exchange of codes and refresh tokens for tokens (RFC 6749 4.1.3, 5 and 6)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.base.errors import EnvironmentFault
from commodore.core.lieutenant.login._oidc_client import FormAnswer, ProviderClient, refused
from commodore.core.lieutenant.login.authorization import AuthorizationRequest
from commodore.core.lieutenant.login.provider import IdentityProvider

_WHAT = "the tokens"


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """Response of the token endpoint: `entry` has the keys of the token store."""

    id_token: str = field(repr=False)
    entry: Mapping[str, Any] = field(repr=False)


def exchange_code(
    provider: IdentityProvider, client_id: str, request: AuthorizationRequest, code: str, http: ProviderClient
) -> TokenAnswer:
    """Redeem an authorization code.

    Raises:
        CommodoreError: the provider cannot be reached, refuses, or returns no ID token.
    """
    from oauthlib.oauth2 import WebApplicationClient

    body = WebApplicationClient(client_id).prepare_request_body(
        code=code, redirect_uri=request.redirect_uri, code_verifier=request.verifier
    )
    return ask_tokens(provider, body, http, (code, request.verifier))


def refresh(provider: IdentityProvider, client_id: str, refresh_token: str, http: ProviderClient) -> TokenAnswer:
    """Exchange a refresh token. The old refresh token is kept if the response has no new one.

    Raises: see `exchange_code`.
    """
    from oauthlib.oauth2 import WebApplicationClient

    body = WebApplicationClient(client_id).prepare_refresh_body(refresh_token=refresh_token, client_id=client_id)
    answer = ask_tokens(provider, body, http, (refresh_token,))
    return TokenAnswer(answer.id_token, {"refresh_token": refresh_token, **answer.entry})


def ask_tokens(provider: IdentityProvider, body: str, http: ProviderClient, secrets: Iterable[str]) -> TokenAnswer:
    """Send a form to the token endpoint.

    Raises: see `exchange_code`.
    """
    answer = http.post(provider.token_endpoint, body, _WHAT, secrets)
    if answer.error:
        raise refused(answer.error, answer.description)
    return read_tokens(answer)


def read_tokens(answer: FormAnswer) -> TokenAnswer:
    """Return the tokens of a successful response.

    Raises:
        EnvironmentFault: it has no ID token.
    """
    id_token = answer.value.get("id_token")
    if not isinstance(id_token, str) or not id_token:
        raise EnvironmentFault(
            "CMD-LOGIN-022",
            "the identity provider returned no ID token",
            hint="allow the scope 'openid' for the client at the identity provider",
        )
    entry = {key: value for key, value in answer.value.items() if value is not None}
    if not isinstance(entry.get("refresh_token", ""), str) or not entry.get("refresh_token"):
        entry.pop("refresh_token", None)
    lifetime = entry.get("expires_in")
    if isinstance(lifetime, int | float) and not isinstance(lifetime, bool) and 0 <= lifetime < 1 << 40:
        entry["expires_at"] = int(time.time() + lifetime)
    if isinstance(entry.get("scope"), str):
        entry["scope"] = entry["scope"].split()
    return TokenAnswer(id_token, entry)
