"""HTTP client of an identity provider."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant.login._oidc_client import ProviderClient
from tests.world.lieutenant import answering
from tests.world.oidc import OidcProvider


def test_when_the_time_is_up_nobody_is_asked(provider: OidcProvider) -> None:
    with (
        ProviderClient(5, Context(ignore, Limits()), deadline=time.monotonic()) as http,
        pytest.raises(CommodoreError) as caught,
    ):
        http.get(provider.discovery_url, "a document")
    assert caught.value.code == "CMD-LOGIN-010"
    assert "no time left" in caught.value.message
    assert provider.requests == []


def test_pauses_between_attempts_end_with_the_time(provider: OidcProvider) -> None:
    """An hour between two attempts would be too long for a login of half a second."""
    provider.script(answering({}, status=503), times=math.inf)
    deadline = time.monotonic() + 0.5
    limits = Limits(request_backoff=3600)
    with ProviderClient(5, Context(ignore, limits), deadline=deadline) as http, pytest.raises(CommodoreError):
        http.get(provider.discovery_url, "a document")
    assert len(provider.requests) == 1


def test_secrets_are_taken_out_of_what_is_said_and_words_are_not(provider: OidcProvider) -> None:
    refusal = {"error": "invalid_grant", "error_description": "the code s3cret-s3cret is used; d"}
    provider.script(answering(refusal, status=400), path="/token")
    with ProviderClient(5, Context(ignore, Limits()), deadline=math.inf) as http:
        answer = http.post(f"{provider.url}/token", "a=b", "tokens", ("s3cret-s3cret", "d"))
    assert (answer.error, answer.description) == ("invalid_grant", "the code *** is used; d")


def test_no_password_of_netrc_is_sent(provider: OidcProvider) -> None:
    (Path.home() / ".netrc").write_text("machine 127.0.0.1 login somebody password secret\n")
    (Path.home() / ".netrc").chmod(0o600)
    with ProviderClient(5, Context(ignore, Limits()), deadline=math.inf) as http:
        http.get(provider.discovery_url, "a document")
    assert "authorization" not in provider.requests[0].headers
