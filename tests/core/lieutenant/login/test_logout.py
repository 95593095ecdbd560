"""The end of a login."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from commodore.base.events import Event, Warned, ignore
from commodore.core.lieutenant import TokenStore
from commodore.core.lieutenant.login import LoginOptions, log_in, log_out, log_out_of_all
from tests.core.lieutenant.login.conftest import API
from tests.world.context import make_context
from tests.world.lieutenant import Reply, answering, dropped, plain
from tests.world.oidc import Browser, OidcProvider

Options = Callable[..., LoginOptions]


def test_the_tokens_are_removed_and_revoked(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    log_in(options(), store, make_context(announce=Browser().announce))
    entry = store.read(API)
    assert entry is not None
    assert log_out(options(client_id=None, discovery_url=None), store, make_context(announce=ignore))
    assert store.read(API) is None
    assert provider.memory.revoked == [entry["refresh_token"]]
    assert not log_out(options(), store, make_context(announce=ignore)), "there is nothing left"


def test_a_slash_makes_no_difference(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    log_in(options(), store, make_context(announce=Browser().announce))
    assert log_out(options(api_url=API + "/"), store, make_context(announce=ignore))
    assert store.api_urls() == []


def test_a_provider_that_cannot_revoke(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    log_in(options(), store, make_context(announce=Browser().announce))
    provider.document = {"revocation_endpoint": ...}
    collected: list[Event] = []
    assert log_out(options(), store, make_context(announce=collected.append))
    assert collected == []


@pytest.mark.parametrize(
    "answer", [dropped(), plain(500, "x"), answering({"error": "invalid_client"}, status=401), plain(200, "")]
)
def test_a_revocation_that_fails(answer: Reply, provider: OidcProvider, store: TokenStore, options: Options) -> None:
    """The tokens go all the same. An empty answer is one of success (RFC 7009 2.2)."""
    log_in(options(), store, make_context(announce=Browser().announce))
    provider.script(answer, times=math.inf, path="/revoke")
    collected: list[Event] = []
    assert log_out(options(timeout=1), store, make_context(announce=collected.append))
    assert store.read(API) is None
    codes = [event.code for event in collected if isinstance(event, Warned)]
    assert codes == ([] if answer.status == 200 else ["CMD-LOGIN-053"])


def test_tokens_are_revoked_by_their_own_provider_only(
    provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    log_in(options(), store, make_context(announce=Browser().announce))
    with OidcProvider() as other:
        log_out(options(discovery_url=other.discovery_url), store, make_context(announce=ignore))
        assert [request.path for request in other.requests] == ["/.well-known/openid-configuration"]
    assert store.read(API) is None


def test_all_logins_are_ended(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    for url in (API, "https://other.example.com"):
        log_in(options(api_url=url), store, make_context(announce=Browser().announce))
    assert log_out_of_all(options(api_url=None), store, make_context(announce=ignore)) == [
        API,
        "https://other.example.com",
    ]
    assert len(provider.memory.revoked) == 2
    assert not store.file.exists()


def test_a_damaged_file_goes_with_all(store: TokenStore, options: Options) -> None:
    store.file.parent.mkdir()
    store.file.write_text("no json")
    assert log_out_of_all(options(), store, make_context(announce=ignore)) == []
    assert not store.file.exists()


@pytest.mark.parametrize("entry", ['"old form"', "{}", "5"])
def test_an_entry_of_another_form_is_removed(entry: str, store: TokenStore, options: Options) -> None:
    store.file.parent.mkdir()
    store.file.write_text(f'{{"{API}": {entry}}}')
    assert log_out(options(), store, make_context(announce=ignore))
    assert store.api_urls() == []
