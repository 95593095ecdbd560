"""Tokens that expire are renewed in silence, and go to nobody but who has made them."""

from __future__ import annotations

import json
import math
import multiprocessing
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import UsageError
from commodore.base.events import Event, Noted, PageToVisit, Warned, ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant import TokenStore
from commodore.core.lieutenant.login import LoginOptions, TokenSource, current_login, log_in
from tests.core.lieutenant.login.conftest import API
from tests.core.lieutenant.test_tokens import jwt
from tests.world.context import make_context
from tests.world.lieutenant import Reply, answering, dropped, slow
from tests.world.oidc import Browser, OidcProvider

Options = Callable[..., LoginOptions]


@pytest.fixture
def expired(provider: OidcProvider, store: TokenStore, options: Options) -> dict[str, Any]:
    """A login whose ID token has expired; its entry. The refresh token is not a JWT."""
    provider.claims = {"exp": int(time.time()) + 5}
    log_in(options(), store, make_context(announce=Browser().announce))
    provider.claims = {}
    provider.requests.clear()
    entry = store.read(API)
    assert entry is not None
    return entry


def paths(provider: OidcProvider) -> list[str]:
    return [request.path for request in provider.requests]


def test_a_good_login_is_used_without_asking_anybody(
    provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    made = log_in(options(), store, make_context(announce=Browser().announce))
    provider.requests.clear()
    login = current_login(options(), store, make_context(announce=ignore))
    assert login is not None
    assert (login.id_token, str(login.identity)) == (made.id_token, "Tess Ter <tess@example.com>")
    assert provider.requests == []


def test_an_opaque_refresh_token_is_used(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    """Refresh tokens that are no JWT were never used."""
    collected: list[Event] = []
    login = current_login(options(), store, make_context(announce=collected.append))
    assert login is not None
    assert login.id_token != expired["id_token"]
    entry = store.read(API)
    assert entry is not None
    assert entry["id_token"] == login.id_token
    assert entry["refresh_token"] not in ("", expired["refresh_token"]), "the provider has given a new one"
    assert not any(isinstance(event, PageToVisit | Warned) for event in collected)
    assert paths(provider) == ["/.well-known/openid-configuration", "/token", "/keys"]


def test_the_old_refresh_token_is_kept_if_there_is_no_new_one(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    """It was lost."""
    provider.tokens = {"refresh_token": ...}
    assert current_login(options(), store, make_context(announce=ignore))
    entry = store.read(API)
    assert entry is not None
    assert entry["refresh_token"] == expired["refresh_token"]


def test_provider_and_client_are_known_from_the_token(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    assert current_login(options(client_id=None, discovery_url=None), store, make_context(announce=ignore))


def test_keys_may_be_rotated(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    provider.key, provider.published = "second", [("second", "RS256")]
    assert current_login(options(), store, make_context(announce=ignore))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (answering({"error": "invalid_grant"}, status=400), "invalid_grant"),
        (answering({"access_token": "x"}), "no ID token"),
        (answering({"id_token": "x"}), "cannot be trusted"),
        (dropped(), "cannot reach"),
        (slow(30), "did not answer|was not complete"),
    ],
)
def test_a_login_that_cannot_be_renewed(
    answer: Reply, why: str, expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    provider.script(answer, times=math.inf, path="/token")
    collected: list[Event] = []
    assert current_login(options(timeout=0.5), store, make_context(announce=collected.append)) is None
    (warning,) = [event for event in collected if isinstance(event, Warned)]
    assert warning.code == "CMD-LOGIN-054"
    assert re.search(why, warning.message)
    assert "commodore login" in warning.hint
    assert expired["refresh_token"] not in repr(collected)
    assert store.read(API) == expired, "another attempt may have more luck"
    assert len([path for path in paths(provider) if path == "/token"]) == 1


def test_a_login_of_somebody_else(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    provider.claims = {"sub": "user-2"}
    assert current_login(options(), store, make_context(announce=ignore)) is None


def test_a_refresh_token_goes_to_its_own_provider_only(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    """Whoever changes the discovery URL, in the API or an environment, gets no tokens by it."""
    with OidcProvider() as evil:
        collected: list[Event] = []
        assert (
            current_login(options(discovery_url=evil.discovery_url), store, make_context(announce=collected.append))
            is None
        )
        assert paths(evil) == ["/.well-known/openid-configuration"]
    assert "was not issued by" in repr(collected)


@pytest.mark.parametrize("token", [None, "", 5, ...])
def test_without_a_refresh_token_there_is_nothing_to_renew(
    token: Any, expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    entry = {key: value for key, value in (expired | {"refresh_token": token}).items() if value is not ...}
    store.file.write_text(json.dumps({API: entry}))
    assert current_login(options(), store, make_context(announce=ignore)) is None
    assert provider.requests == []


def renew(file: Path, options: LoginOptions, results: Any) -> None:
    login = current_login(options, TokenStore(file, make_context()), make_context(announce=ignore))
    results.put(login.id_token if login else "")


def test_two_processes_renew_once(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    """A rotated refresh token is good once; the second process takes what the first has got."""
    provider.script(Reply(delay=0.3), path="/token")
    spawn = multiprocessing.get_context("spawn")
    results: Any = spawn.Queue()
    workers = [spawn.Process(target=renew, args=(store.file, options(timeout=10), results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    got = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert got[0]
    assert got[0] == got[1]
    assert paths(provider).count("/token") == 1


def source(options: LoginOptions, store: TokenStore, collected: list[Event], **changes: Any) -> TokenSource:
    given = changes.pop("given", None)
    return TokenSource(
        lambda: given,
        options,
        store,
        make_context(announce=collected.append),
        may_log_in=changes.pop("may_log_in", False),
    )


def test_the_given_token_comes_first(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    assert source(options(), store, [], given="opaque")() == "opaque"
    assert provider.requests == []


def test_an_expired_given_token_is_replaced(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    collected: list[Event] = []
    tokens = source(options(), store, collected, given=expired["id_token"])
    assert tokens() == tokens() != expired["id_token"]
    said = [
        event.message
        for event in collected
        if isinstance(event, Noted) and "given API token has expired" in event.message
    ]
    assert len(said) == 1


def test_what_cannot_be_renewed_is_tried_and_told_once(
    expired: dict[str, Any], provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    provider.script(answering({"error": "invalid_grant"}, status=400), times=math.inf, path="/token")
    collected: list[Event] = []
    tokens = source(options(), store, collected)
    assert tokens() is None
    assert tokens() is None
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-LOGIN-054"]
    assert paths(provider).count("/token") == 1


def test_a_login_that_has_expired_for_good_is_told_once(
    store: TokenStore, options: Options, provider: OidcProvider
) -> None:
    provider.claims = {"exp": int(time.time()) + 5}
    provider.tokens = {"refresh_token": ...}
    log_in(options(), store, make_context(announce=Browser().announce))
    collected: list[Event] = []
    tokens = source(options(), store, collected)
    for _ in range(2):
        with pytest.raises(UsageError, match="the API token of the last login has expired") as caught:
            tokens()
        assert caught.value.code == "CMD-API-003"
    assert [event for event in collected if isinstance(event, Warned)] == []


def test_an_expired_given_token_without_a_login(store: TokenStore, options: Options) -> None:
    tokens = source(options(), store, [], given=jwt(exp=int(time.time()) - 5))
    with pytest.raises(UsageError, match="the API token given has expired"):
        tokens()


def test_nobody_has_logged_in(store: TokenStore, options: Options) -> None:
    collected: list[Event] = []
    assert source(options(), store, collected)() is None
    assert collected == []


def test_a_login_is_begun_where_somebody_is(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    """Without a token a login is tried."""
    browser = Browser()
    tokens = TokenSource(lambda: None, options(), store, make_context(announce=browser.announce), may_log_in=True)
    assert tokens() == tokens()
    assert len(browser.visited) == 1


def test_a_token_that_expires_during_a_run_is_renewed(
    provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    """The report comes last, when the token may have expired."""
    log_in(options(), store, make_context(announce=Browser().announce))
    clock = [time.time()]
    tokens = TokenSource(
        lambda: None, options(), store, make_context(announce=ignore), may_log_in=False, now=lambda: clock[0]
    )
    first = tokens()
    clock[0] += 3595
    provider.claims = {"exp": int(clock[0]) + 3600}
    assert tokens() not in (None, first)


def test_a_store_that_somebody_holds(expired: dict[str, Any], store: TokenStore, options: Options) -> None:
    waiting = TokenStore(store.file, make_context(limits=Limits(token_lock_wait=0.1)))
    with store.locked(), pytest.raises(Exception, match="another process") as caught:
        current_login(options(), waiting, make_context(announce=ignore))
    assert getattr(caught.value, "code", "") == "CMD-LOGIN-051"
