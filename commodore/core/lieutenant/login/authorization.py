"""Authorization requests: PKCE, state and nonce (RFC 6749, RFC 7636, OIDC Core 3.1.2)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from commodore.core.lieutenant.login.provider import IdentityProvider

SCOPES = "openid email profile"
_VERIFIER_LENGTH = 64


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """One attempt to log in. Every value is new and used once; secrets are left out of `repr`."""

    url: str = field(repr=False)
    redirect_uri: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


def new_request(provider: IdentityProvider, client_id: str, redirect_uri: str) -> AuthorizationRequest:
    """Return a request for an authorization code that only this process can redeem."""
    from oauthlib.common import add_params_to_uri
    from oauthlib.oauth2 import WebApplicationClient

    client = WebApplicationClient(client_id)
    verifier = client.create_code_verifier(_VERIFIER_LENGTH)
    state, nonce = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    parameters = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": SCOPES,
        "state": state,
        "nonce": nonce,
        "code_challenge": client.create_code_challenge(verifier, "S256"),
        "code_challenge_method": "S256",
    }
    url = add_params_to_uri(provider.authorization_endpoint, list(parameters.items()))
    return AuthorizationRequest(url, redirect_uri, state, nonce, verifier)
