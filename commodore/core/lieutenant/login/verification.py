"""Verification of ID tokens: signature and claims (OpenID Connect Core 3.1.3.7)."""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commodore.base.errors import PolicyError
from commodore.base.limits import Limits
from commodore.core.lieutenant.login._oidc_client import ProviderClient, shortened, unusable
from commodore.core.lieutenant.login.provider import IdentityProvider

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

# Signatures by a private key. Not 'none', and no algorithm with a secret that a public client would have to know.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_KEY_TYPES = ("RSA", "EC", "OKP")
_FOREVER = 1 << 62  # upper bound of times, because a float may not hold larger ones


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a user, and its expiry (seconds since the epoch)."""

    subject: str
    name: str
    email: str
    expires: float

    def __str__(self) -> str:
        if self.name and self.email:
            return f"{self.name} <{self.email}>"
        return self.name or self.email or self.subject


def verify(
    id_token: str,
    provider: IdentityProvider,
    client_id: str,
    http: ProviderClient,
    *,
    nonce: str | None = None,
    subject: str | None = None,
) -> Identity:
    """Verify that an ID token was issued by this provider for this client and this login, and return its identity.

    Args:
        nonce: the nonce of the authorization request; None without such a request.
        subject: the expected subject, if it is known from an earlier login.

    Raises:
        PolicyError: the token cannot be trusted.
        EnvironmentFault: the provider's keys cannot be fetched.
    """
    claims = _signed_claims(id_token, _keys(provider, http), http.limits)
    _check_claims(claims, provider.issuer, client_id, http.limits)
    if nonce is not None and not _same(claims.get("nonce"), nonce):
        raise _untrusted("it was made for another login (nonce)")
    if subject is not None and not _same(claims.get("sub"), subject):
        raise _untrusted("its subject (sub) is not that of the renewed login")
    return Identity(
        subject=shortened(str(claims["sub"])),
        name=_claim(claims, "name") or _claim(claims, "preferred_username"),
        email=_claim(claims, "email"),
        expires=float(min(claims["exp"], _FOREVER)),
    )


def _keys(provider: IdentityProvider, http: ProviderClient) -> KeySet:
    """Return the provider's public keys for signatures. Unknown kinds are left out, as providers may add some."""
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry, KeySet

    entries = http.get(provider.jwks_uri, "the identity provider's keys").get("keys")
    keys = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get("kty") in _KEY_TYPES and entry.get("use", "sig") == "sig":
            try:
                keys.append(JWKRegistry.import_key({k: v for k, v in entry.items() if k not in ("use", "key_ops")}))
            except (JoseError, ValueError, TypeError, KeyError):
                continue
    if not keys:
        raise unusable("the identity provider has no key to verify signatures")
    return KeySet(keys)


def _signed_claims(id_token: str, keys: KeySet, limits: Limits) -> Mapping[str, Any]:
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError
    from joserfc.jws import JWSRegistry

    if len(id_token) > limits.token_bytes:
        raise _untrusted(f"it is longer than {limits.token_bytes} bytes")
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)  # unknown headers must be ignored
    registry.max_payload_length = registry.max_header_length = limits.token_bytes
    try:
        return jwt.decode(id_token, keys, registry=registry).claims
    except InvalidKeyIdError:
        raise _untrusted("it is signed with a key that the identity provider does not have") from None
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        # The text of the error could repeat parts of the token.
        raise _untrusted(f"its signature or form is not valid ({type(error).__name__})") from None


def _check_claims(claims: Mapping[str, Any], issuer: str, client_id: str, limits: Limits) -> None:
    if not _same(claims.get("iss"), issuer):
        raise _untrusted(f"its issuer is {shortened(str(claims.get('iss')))!r} instead of {issuer!r}")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        raise _untrusted(f"it is not meant for the client {client_id!r} (audience)")
    if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != client_id:
        raise _untrusted(f"it was issued to another client than {client_id!r} (azp)")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise _untrusted("it has no subject (sub)")
    now = time.time()
    times = {key: claims.get(key) for key in ("exp", "iat", "nbf")}
    for key, value in times.items():
        if (value is not None or key == "exp") and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise _untrusted(f"its claim {key!r} is not a time")
    if not times["exp"] > now - limits.clock_skew:  # type: ignore[operator] # checked above
        raise _untrusted("it has expired already; is the clock of this machine right?")
    if any(times[key] is not None and times[key] > now + limits.clock_skew for key in ("iat", "nbf")):  # type: ignore[operator]
        raise _untrusted("it is not valid yet; is the clock of this machine right?")


def _claim(claims: Mapping[str, Any], key: str) -> str:
    value = claims.get(key)
    return shortened(value) if isinstance(value, str) else ""


def _same(given: object, expected: str) -> bool:
    return isinstance(given, str) and hmac.compare_digest(given.encode(errors="replace"), expected.encode())


def _untrusted(why: str) -> PolicyError:
    return PolicyError(
        "CMD-LOGIN-023",
        f"the ID token cannot be trusted: {why}",
        hint="nothing was stored; try again, and contact the operators of the identity provider if it persists",
    )
