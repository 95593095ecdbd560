"""Discovery of an identity provider."""

from __future__ import annotations

import math

import pytest

from commodore.context import Context
from commodore.errors import PolicyError
from commodore.events import ignore
from commodore.lieutenant.login._oidc_client import ProviderClient
from commodore.lieutenant.login.provider import discover
from commodore.limits import Limits
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
