"""Identity provider of a login, and its metadata (OpenID Connect Discovery 1.0)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import PolicyError, UsageError
from commodore.base.events import Warned
from commodore.core.lieutenant.api_url import normalise_api_url
from commodore.core.lieutenant.login._oidc_client import ProviderClient, check_url, shortened, unusable
from commodore.core.sources.http import is_loopback

DISCOVERY_PATH = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class OidcClient:
    """The OIDC client: its id, and the provider's discovery URL."""

    client_id: str
    discovery_url: str


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """Metadata of a provider. None for missing endpoints.

    `names_issuer`: it adds its issuer to the callback (RFC 9207).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    device_endpoint: str | None
    revocation_endpoint: str | None
    names_issuer: bool


def find_client(
    api_url: str | None,
    client_id: str | None,
    discovery_url: str | None,
    context: Context,
    *,
    timeout: float,
    deadline: float,
) -> OidcClient:
    """Return the client and the provider of the options; of the API if the options have neither.

    Raises:
        UsageError: the client or the provider is unknown.
        CommodoreError: the API cannot be reached.
    """
    client, discovery = (client_id or "").strip(), (discovery_url or "").strip()
    if not client and not discovery and api_url:
        client, discovery = _ask_api(api_url, timeout, context, deadline)
        if not client or not discovery:
            raise UsageError(
                "CMD-LOGIN-001",
                f"{normalise_api_url(api_url)} does not publish login settings",
                hint="give --oidc-client (COMMODORE_OIDC_CLIENT) "
                "and --oidc-discovery-url (COMMODORE_OIDC_DISCOVERY_URL), or an API token",
            )
    if not client and not discovery:
        raise UsageError(
            "CMD-LOGIN-004",
            "the identity provider is not known",
            hint="give the URL of the Lieutenant API with --api-url (COMMODORE_API_URL)",
        )
    if not client:
        raise _missing("the OIDC client", "--oidc-client (COMMODORE_OIDC_CLIENT)")
    if not discovery:
        raise _missing(
            "the discovery URL of the identity provider", "--oidc-discovery-url (COMMODORE_OIDC_DISCOVERY_URL)"
        )
    return OidcClient(client, discovery)


def discover(discovery_url: str, http: ProviderClient) -> IdentityProvider:
    """Read the provider's discovery document.

    Raises:
        EnvironmentFault: it cannot be reached, or the document is incomplete.
        PolicyError: one of its URLs is not encrypted; CMD-LOGIN-013, the document is that of another issuer.
    """
    what = "the OpenID Connect discovery document"
    document = http.get(discovery_url, what)

    def url(key: str, name: str) -> str:
        value = document.get(key)
        if not isinstance(value, str) or not value:
            raise unusable(f"{what} at {discovery_url} has no {key}")
        check_url(value, name)
        return value

    def optional(key: str, name: str) -> str | None:
        return url(key, name) if document.get(key) else None

    issuer = url("issuer", "the issuer")
    _check_issuer(issuer, discovery_url)
    return IdentityProvider(
        issuer=issuer,
        authorization_endpoint=url("authorization_endpoint", "the authorization endpoint"),
        token_endpoint=url("token_endpoint", "the token endpoint"),
        jwks_uri=url("jwks_uri", "the identity provider's keys"),
        device_endpoint=optional("device_authorization_endpoint", "the device authorization endpoint"),
        revocation_endpoint=optional("revocation_endpoint", "the revocation endpoint"),
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _check_issuer(issuer: str, discovery_url: str) -> None:
    """Check that the issuer matches the discovery URL (OpenID Connect Discovery 4.3), if that has the standard form."""
    place, path, rest = discovery_url.partition(DISCOVERY_PATH)
    if path and not rest and issuer.rstrip("/") != place.rstrip("/"):
        raise PolicyError(
            "CMD-LOGIN-013",
            f"the OpenID Connect discovery document at {discovery_url} is that of another issuer, {shortened(issuer)}",
            hint=f"if that is your identity provider, give --oidc-discovery-url {shortened(issuer_discovery(issuer))}",
        )


def issuer_discovery(issuer: str) -> str:
    """Return the URL of the discovery document of an issuer (OpenID Connect Discovery 4)."""
    return issuer.rstrip("/") + DISCOVERY_PATH


def _ask_api(api_url: str, timeout: float, context: Context, deadline: float) -> tuple[str, str]:
    """Return client and discovery URL of the API; empty if it has none. The status of the response is ignored."""
    from commodore.core.lieutenant.api_http import api_client, api_policy

    url = normalise_api_url(api_url)
    if url.startswith("http:") and not is_loopback(url):
        context.announce(
            Warned(
                "CMD-LOGIN-003",
                f"{url} returns the login settings without encryption",
                hint="use https:// in the API URL, or name the identity provider with --oidc-discovery-url",
            )
        )
    client = api_client(Context(context.announce, context.limits))
    try:
        answer = client.get(url, api_policy(timeout, context.limits, deadline))
    finally:
        client.close()
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        return "", ""
    hints: Any = value.get("oidc") if isinstance(value, dict) else None
    return (_text(hints, "clientId"), _text(hints, "discoveryUrl")) if isinstance(hints, dict) else ("", "")


def _text(hints: Mapping[str, Any], key: str) -> str:
    value = hints.get(key)
    return value.strip() if isinstance(value, str) else ""


def _missing(what: str, option: str) -> UsageError:
    return UsageError(
        "CMD-LOGIN-001",
        f"{what} is not known",
        hint=f"set it with {option} too, or leave out both to use those of the API",
    )
