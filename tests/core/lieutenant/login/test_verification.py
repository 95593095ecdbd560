"""Whatever is given as ID token or as keys: it is trusted, or refused, and never anything else."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.limits import Limits
from commodore.core.lieutenant.login.provider import IdentityProvider
from commodore.core.lieutenant.login.verification import ALGORITHMS, verify
from tests.world.oidc import CLIENT, OidcProvider

PROVIDER = IdentityProvider("https://idp", "https://idp/a", "https://idp/t", "https://idp/k", None, None, False)


class Keys:
    """Stands where the http does, and has these keys at hand."""

    limits = Limits()

    def __init__(self, keys: Any) -> None:
        self.keys = keys

    def get(self, url: str, what: str) -> dict[str, Any]:
        return {"keys": self.keys}


@pytest.fixture(scope="module")
def keys() -> Keys:
    with OidcProvider() as provider:
        return Keys(provider._keys())


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner), max_leaves=5
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "alg": st.sampled_from((*ALGORITHMS, "none", "HS256", "ES256K", "RSA-OAEP", "")) | json_values,
        "kid": st.sampled_from(("first-RS256", "first-ES256", "x")) | json_values,
        "crit": json_values,
        "b64": json_values,
        "typ": json_values,
        "jwk": json_values,
    },
)


@given(
    token=st.text()
    | st.builds(
        lambda header, claims, signature: f"{encoded(header)}.{encoded(claims)}.{signature}",
        headers | json_values,
        st.dictionaries(st.sampled_from(("iss", "sub", "aud", "exp", "nonce")), json_values) | json_values,
        st.sampled_from(("", "AAAA", "c2ln", "é")) | st.text(),
    )
)
def test_made_up_tokens_are_refused(keys: Keys, token: str) -> None:
    with pytest.raises(PolicyError) as caught:
        verify(token, PROVIDER, CLIENT, keys)  # type: ignore[arg-type]
    assert caught.value.code == "CMD-LOGIN-023"
    assert caught.value.message.isprintable()


key_values = st.dictionaries(
    st.sampled_from(("kty", "n", "e", "crv", "x", "y", "kid", "use", "alg", "d")),
    st.sampled_from(("RSA", "EC", "OKP", "AQAB", "P-256", "Ed25519", "sig", "AAAA")) | json_values,
)


@given(entries=st.lists(key_values | json_values) | json_values)
def test_made_up_keys_are_left_out(entries: Any) -> None:
    with pytest.raises((PolicyError, EnvironmentFault)):
        verify("a.b.c", PROVIDER, CLIENT, Keys(entries))  # type: ignore[arg-type]


@pytest.mark.parametrize(("expires", "shown"), [(1 << 70, float(1 << 62)), (math.inf, float(1 << 62))])
def test_an_end_that_no_calendar_knows(expires: float, shown: float) -> None:
    with OidcProvider() as provider:
        provider.claims = {"exp": expires, "iss": PROVIDER.issuer}
        token = provider.id_token(provider.memory.clients[CLIENT], None)
        identity = verify(token, PROVIDER, CLIENT, Keys(provider._keys()))  # type: ignore[arg-type]
    assert identity.expires == shown
