"""Logging in with another device (RFC 8628), in all its answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, PageToVisit, ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant import TokenStore
from commodore.core.lieutenant.login import Login, LoginOptions, log_in
from commodore.core.lieutenant.login._oidc_client import ProviderClient
from commodore.core.lieutenant.login.device import log_in_with_device
from commodore.core.lieutenant.login.provider import discover
from tests.world.context import make_context
from tests.world.lieutenant import Reply, answering, dropped, plain
from tests.world.oidc import Browser, OidcProvider

Options = Callable[..., LoginOptions]
PENDING = answering({"error": "authorization_pending"}, status=400)
SLOWER = answering({"error": "slow_down"}, status=400)


class Person:
    """Enters the code (or says no) after being asked `after` times."""

    def __init__(self, provider: OidcProvider, *, agrees: bool = True, after: int = 0) -> None:
        self.provider, self.agrees, self.after = provider, agrees, after
        self.pages: list[PageToVisit] = []
        self.pauses: list[float] = []

    def announce(self, event: Event) -> None:
        if isinstance(event, PageToVisit):
            self.pages.append(event)
            self.decide()

    def decide(self) -> None:
        if len(self.pauses) >= self.after and self.pages:
            self.provider.memory.decisions[self.pages[-1].code] = self.agrees

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.decide()


def run(provider: OidcProvider, person: Person, limits: Limits | None = None) -> Any:
    with ProviderClient(1, Context(ignore, limits or Limits()), deadline=math.inf) as http:
        identity_provider = discover(provider.discovery_url, http)
        return log_in_with_device(
            identity_provider,
            provider.client_id,
            http,
            make_context(announce=person.announce, limits=limits or Limits()),
            sleep=person.sleep,
        )


def failing(provider: OidcProvider, person: Person, limits: Limits | None = None) -> CommodoreError:
    with pytest.raises(CommodoreError) as caught:
        run(provider, person, limits)
    return caught.value


def test_a_whole_login(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    person = Person(provider)
    login = log_in(options(device=True), store, make_context(announce=person.announce))
    assert login.identity.name == "Tess Ter"
    assert store.read("https://api.example.com")
    (page,) = person.pages
    assert page.url == f"{provider.url}/activate"
    assert len(page.code) == 9


def test_it_waits_as_long_as_the_provider_wants(provider: OidcProvider) -> None:
    provider.memory.interval = 7
    person = Person(provider, after=3)
    assert run(provider, person).id_token
    assert person.pauses == [7, 7, 7]


def test_it_slows_down(provider: OidcProvider) -> None:
    provider.script(SLOWER, PENDING, SLOWER, path="/token")
    person = Person(provider)
    run(provider, person)
    assert person.pauses == [1, 6, 6, 11]


def test_without_an_interval_it_asks_every_five_seconds(provider: OidcProvider) -> None:
    started = {"device_code": "d", "user_code": "u", "verification_uri": provider.url, "interval": "x"}
    provider.script(answering(started), path="/device")
    provider.script(PENDING, answering({"error": "expired_token"}, status=400), path="/token")
    person = Person(provider)
    assert failing(provider, person).code == "CMD-LOGIN-041"
    assert person.pauses == [5, 5]


def test_a_denial(provider: OidcProvider) -> None:
    error = failing(provider, Person(provider, agrees=False))
    assert (error.code, error.exit_code) == ("CMD-LOGIN-020", 1)


def test_a_code_that_nobody_enters(provider: OidcProvider) -> None:
    provider.memory.device_seconds = 1
    provider.memory.interval = 2
    error = failing(provider, Person(provider, after=99))
    assert (error.code, error.exit_code) == ("CMD-LOGIN-041", 3)


def test_another_refusal(provider: OidcProvider) -> None:
    provider.script(answering({"error": "invalid_client", "error_description": "who?"}, status=401), path="/token")
    error = failing(provider, Person(provider))
    assert error.code == "CMD-LOGIN-021"
    assert "invalid_client: who?" in error.message


def test_a_network_that_comes_and_goes(provider: OidcProvider) -> None:
    """RFC 8628 3.5: a poll that gets no answer is repeated later."""
    provider.script(dropped(), times=2, path="/token")
    person = Person(provider)
    assert run(provider, person).id_token
    assert person.pauses == [1, 2, 4]


def test_a_network_that_goes(provider: OidcProvider) -> None:
    provider.script(dropped(), times=math.inf, path="/token")
    person = Person(provider)
    assert failing(provider, person).code == "CMD-LOGIN-010"
    assert len(person.pauses) == Limits().request_attempts


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (answering({}), "CMD-LOGIN-012"),
        (answering({"device_code": "d", "user_code": 5, "verification_uri": "https://x"}), "CMD-LOGIN-012"),
        (answering({"device_code": "d", "user_code": "u", "verification_uri": "http://x"}), "CMD-LOGIN-002"),
        (plain(200, "<html>"), "CMD-LOGIN-012"),
        (plain(500, "<html>"), "CMD-LOGIN-010"),
    ],
)
def test_a_start_that_makes_no_sense(answer: Reply, code: str, provider: OidcProvider) -> None:
    provider.script(answer, path="/device")
    person = Person(provider)
    assert failing(provider, person).code == code
    assert person.pages == []


def test_a_provider_without_it(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    provider.document = {"device_authorization_endpoint": ...}
    with pytest.raises(CommodoreError) as caught:
        log_in(options(device=True), store, make_context(announce=ignore))
    assert (caught.value.code, caught.value.exit_code) == ("CMD-LOGIN-040", 1)


def test_a_client_that_may_not_use_it(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    provider.script(answering({"error": "unauthorized_client"}, status=400), path="/device")
    with pytest.raises(CommodoreError) as caught:
        log_in(options(device=True), store, make_context(announce=ignore))
    assert caught.value.code == "CMD-LOGIN-021"


def test_without_a_browser_it_is_used_by_itself(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    person = Person(provider)
    log_in(options(device=None), store, make_context(announce=person.announce))
    assert person.pages[0].code


def test_whoever_prepares_a_callback_gets_a_link(provider: OidcProvider, store: TokenStore, options: Options) -> None:
    browser = Browser()
    log_in(options(), store, make_context(announce=browser.announce))
    assert browser.visited[0].startswith(f"{provider.url}/authorize?")


def test_a_client_that_may_not_use_it_falls_back_to_a_link(
    provider: OidcProvider, store: TokenStore, options: Options
) -> None:
    """Providers often name the device endpoint though few clients may use it."""
    provider.script(answering({"error": "unauthorized_client"}, status=400), path="/device")
    browser = Browser()
    login: Login = log_in(options(device=None), store, make_context(announce=browser.announce))
    assert login.identity.subject == "user-1"
    assert browser.visited[0].startswith(f"{provider.url}/authorize?")
