"""Discovery of an identity provider."""

from __future__ import annotations

import math

import pytest

from commodore.base.context import Context
from commodore.base.errors import PolicyError
from commodore.base.events import ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant.login._oidc_client import ProviderClient
from commodore.core.lieutenant.login.provider import discover
from tests.world.oidc import OidcProvider


@pytest.mark.parametrize("issuer", ["https://other.example.com", "https://other.example.com/realms/x"])
def test_a_document_of_another_issuer_is_refused(provider: OidcProvider, issuer: str) -> None:
    provider.document = {"issuer": issuer}
    with ProviderClient(5, Context(ignore, Limits()), deadline=math.inf) as http, pytest.raises(PolicyError) as caught:
        discover(provider.discovery_url, http)
    assert caught.value.code == "CMD-LOGIN-013"
    assert "https://other.example.com" in caught.value.message


def test_a_slash_at_the_end_of_an_issuer_does_not_count(provider: OidcProvider) -> None:
    provider.document = {"issuer": f"{provider.url}/"}
    with ProviderClient(5, Context(ignore, Limits()), deadline=math.inf) as http:
        assert discover(provider.discovery_url, http).issuer == f"{provider.url}/"
