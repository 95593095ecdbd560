"""Whole logins against a provider on loopback: the good one, and everything that must end one."""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from commodore.base.errors import CommodoreError
from commodore.base.events import PageToVisit, Warned
from commodore.base.limits import Limits
from commodore.core.lieutenant import TokenStore
from commodore.core.lieutenant.login import CallbackSettings, Login, log_in
from tests.core.lieutenant.login.conftest import API, login_options
from tests.world.context import make_context
from tests.world.lieutenant import Reply, answering, dropped, failing, plain, redirect, slow
from tests.world.oidc import Browser, OidcProvider


def attempt(
    provider: OidcProvider, store: TokenStore, browser: Browser, limits: Limits | None = None, **changes: Any
) -> Login:
    return log_in(
        login_options(provider, **changes), store, make_context(announce=browser.announce, limits=limits or Limits())
    )


def refused(
    provider: OidcProvider, store: TokenStore, browser: Browser, limits: Limits | None = None, **changes: Any
) -> CommodoreError:
    """The error that a login ends with; nothing is stored then."""
    with pytest.raises(CommodoreError) as caught:
        attempt(provider, store, browser, limits, **changes)
    assert not store.file.exists()
    return caught.value


def test_a_login(provider: OidcProvider, store: TokenStore) -> None:
    browser = Browser()
    login = attempt(provider, store, browser)
    assert str(login.identity) == "Tess Ter <tess@example.com>"
    status, text = browser.pages.get(timeout=10)
    assert status == 200
    assert "You are logged in" in text
    assert "http" not in text.replace('charset="utf-8"', ""), "the page loads nothing from anywhere"

    (asked,) = browser.visited
    query = {name: values[0] for name, values in parse_qs(urlsplit(asked).query).items()}
    assert query["response_type"] == "code"
    assert query["scope"] == "openid email profile"
    assert query["code_challenge_method"] == "S256"
    assert min(len(query["state"]), len(query["nonce"]), len(query["code_challenge"])) >= 43
    assert query["redirect_uri"].startswith("http://localhost:")

    entry = store.read(API)
    assert entry is not None
    assert entry["id_token"] == login.id_token
    assert entry["refresh_token"].startswith("rt-")
    assert entry["expires_at"] == pytest.approx(time.time() + entry["expires_in"], abs=60)
    assert login.id_token not in repr(login)


def test_every_login_is_another_one(provider: OidcProvider, store: TokenStore) -> None:
    browser = Browser()
    attempt(provider, store, browser)
    attempt(provider, store, browser)
    first, second = (parse_qs(urlsplit(url).query) for url in browser.visited)
    assert all(first[key] != second[key] for key in ("state", "nonce", "code_challenge"))


def test_the_registered_redirect_uri_is_the_default() -> None:
    """Identity providers know http://localhost:18000, without a slash."""
    assert CallbackSettings() == CallbackSettings("localhost", 18000)


def test_without_an_api_nothing_is_kept(provider: OidcProvider, store: TokenStore) -> None:
    assert attempt(provider, store, Browser(), api_url=None).id_token.count(".") == 2
    assert not store.file.exists()


def test_the_api_says_where_to_log_in(provider: OidcProvider, store: TokenStore) -> None:
    provider.oidc = {"clientId": provider.client_id, "discoveryUrl": provider.discovery_url}
    attempt(provider, store, Browser(), api_url=provider.url, client_id=None, discovery_url=None)
    assert store.api_urls() == [provider.url]


@pytest.mark.parametrize(
    "answer",
    [answering({}), answering({"oidc": "x"}), answering({"oidc": {"clientId": 5}}), answering([]), plain(401, "no")],
)
def test_an_api_that_does_not_say_it(answer: Reply, provider: OidcProvider, store: TokenStore) -> None:
    """Discovery JSON of another form was a traceback."""
    provider.script(answer, path="/")
    error = refused(provider, store, Browser(), api_url=provider.url, client_id=None, discovery_url=None)
    assert error.code == "CMD-LOGIN-001"
    assert "--oidc-client" in error.hint


@pytest.mark.parametrize(("client", "discovery"), [("x", None), (None, "https://idp.example.com"), (" ", "https://x")])
def test_half_of_what_must_be_known(
    client: str | None, discovery: str | None, provider: OidcProvider, store: TokenStore
) -> None:
    error = refused(provider, store, Browser(), client_id=client, discovery_url=discovery)
    assert error.code == "CMD-LOGIN-001"
    assert provider.requests == []


def test_a_login_that_is_denied(provider: OidcProvider, store: TokenStore) -> None:
    """Errors of the identity provider ended with exit code 0."""
    provider.denies = True
    browser = Browser()
    error = refused(provider, store, browser)
    assert (error.code, error.exit_code) == ("CMD-LOGIN-020", 1)
    assert "access_denied" in error.message
    status, text = browser.pages.get(timeout=10)
    assert status == 400
    assert "The login has failed" in text


def test_what_the_provider_says_is_made_printable(provider: OidcProvider, store: TokenStore) -> None:
    said = "\x1b[31m<script>" + "x" * 1000
    provider.callback = {"code": ..., "error": "server_error", "error_description": said}
    browser = Browser()
    error = refused(provider, store, browser)
    assert (error.code, error.exit_code) == ("CMD-LOGIN-021", 3)
    assert "\x1b" not in error.message
    assert len(error.message) < 400
    assert "<script>" not in browser.pages.get(timeout=10)[1]


def test_a_stranger_does_not_end_the_login(provider: OidcProvider, store: TokenStore) -> None:
    """A stray request ended the login, and a code was taken without state, from any path."""
    browser = _Strange()
    login = attempt(provider, store, browser)
    assert login.identity.subject == "user-1"
    assert browser.stray == {
        "favicon": 404, "other path": 404, "other host": 404, "no state": 400, "wrong state": 400, "twice": 400,
        "denied by a stranger": 400, "post": 501,
    }  # fmt: skip
    warnings = [event for event in browser.collected if isinstance(event, Warned)]
    assert [event.code for event in warnings] == ["CMD-LOGIN-024"], "said once"


class _Strange(Browser):
    """A browser after a crowd of others."""

    def __init__(self) -> None:
        super().__init__()
        self.stray: dict[str, int] = {}

    def visit(self, url: str) -> None:
        back = self.way_back(url)
        base, _, query = back.partition("?")
        state = parse_qs(query)["state"][0]
        self.stray["favicon"] = self.get(f"{base}/favicon.ico")[0]
        self.stray["other path"] = self.get(f"{base}/x?{query}")[0]
        self.stray["other host"] = self.get(back, Host="evil.example.com")[0]
        self.stray["no state"] = self.get(f"{base}/?code=x")[0]
        self.stray["wrong state"] = self.get(f"{base}/?code=x&state=x")[0]
        self.stray["twice"] = self.get(f"{base}/?code=x&state={state}&state={state}")[0]
        self.stray["denied by a stranger"] = self.get(f"{base}/?error=access_denied&state=x")[0]
        self.stray["post"] = requests.post(back, timeout=10).status_code
        self.pages.put(self.get(back))


def test_the_answer_counts_once(provider: OidcProvider, store: TokenStore) -> None:
    """A second browser with the same answer is turned away while the first is still waiting for its page."""
    provider.script(Reply(delay=0.3), path="/token")
    browser = _Twice()
    attempt(provider, store, browser)
    shown = sorted(browser.pages.get(timeout=10)[0] for _ in range(2))
    assert shown == [200, 400]
    assert len([request for request in provider.requests if request.path == "/token"]) == 1


class _Twice(Browser):
    def visit(self, url: str) -> None:
        back = self.way_back(url)
        for _ in range(2):
            threading.Thread(target=lambda: self.pages.put(self.get(back)), daemon=True).start()


def test_a_code_that_was_used_before(provider: OidcProvider, store: TokenStore) -> None:
    browser = _Thief(provider)
    error = refused(provider, store, browser)
    assert error.code == "CMD-LOGIN-021"
    assert "invalid_grant" in error.message
    assert browser.thief.status_code == 400, "nor can the thief use it, who does not know the verifier"


class _Thief(Browser):
    """Somebody redeems the code before the program can."""

    def __init__(self, provider: OidcProvider) -> None:
        super().__init__()
        self.provider = provider

    def visit(self, url: str) -> None:
        back = self.way_back(url)
        query = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
        form = {
            "grant_type": "authorization_code",
            "client_id": self.provider.client_id,
            "code": query["code"],
            "redirect_uri": back.partition("?")[0],
            "code_verifier": "x" * 43,
        }
        self.thief = requests.post(f"{self.provider.url}/token", data=form, timeout=10)
        self.pages.put(self.get(back))


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"nonce": "another"}, "nonce"),
        ({"nonce": ...}, "nonce"),
        ({"iss": "https://evil.example.com"}, "issuer"),
        ({"iss": ...}, "issuer"),
        ({"aud": "another"}, "audience"),
        ({"aud": ...}, "audience"),
        ({"aud": ["another", "syn-commodore"]}, "azp"),
        ({"azp": "another"}, "azp"),
        ({"exp": 1_000_000}, "expired"),
        ({"exp": ...}, "exp"),
        ({"exp": "tomorrow"}, "exp"),
        ({"exp": True}, "exp"),
        ({"nbf": 1 << 40}, "not valid yet"),
        ({"iat": 1 << 40}, "not valid yet"),
        ({"sub": ...}, "sub"),
        ({"sub": ""}, "sub"),
    ],
)
def test_an_id_token_that_is_not_for_us(
    claims: dict[str, Any], why: str, provider: OidcProvider, store: TokenStore
) -> None:
    """Signature, issuer, audience and expiry were never looked at."""
    provider.claims = claims
    browser = Browser()
    error = refused(provider, store, browser)
    assert (error.code, error.exit_code) == ("CMD-LOGIN-023", 4)
    assert why in error.message
    assert browser.pages.get(timeout=10)[0] == 400


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["syn-commodore"]},
        {"aud": ["x", "syn-commodore"], "azp": "syn-commodore"},
        {"exp": 10**400},
        {"iat": ...},
    ],
)
def test_unusual_id_tokens_that_are_good(claims: dict[str, Any], provider: OidcProvider, store: TokenStore) -> None:
    provider.claims = claims
    assert attempt(provider, store, Browser()).identity.name == "Tess Ter"


def test_an_elliptic_signature(provider: OidcProvider, store: TokenStore) -> None:
    provider.algorithm = "ES256"
    assert attempt(provider, store, Browser()).identity.email == "tess@example.com"


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_signature_that_proves_nothing(algorithm: str, provider: OidcProvider, store: TokenStore) -> None:
    provider.algorithm = algorithm
    assert refused(provider, store, Browser()).code == "CMD-LOGIN-023"


def test_a_signature_by_somebody_else(provider: OidcProvider, store: TokenStore) -> None:
    provider.key = "foreign"
    assert "does not have" in refused(provider, store, Browser()).message


def test_a_forged_signature(provider: OidcProvider, store: TokenStore) -> None:
    original = provider.id_token

    def forged(*arguments: Any) -> str:
        head, body, signature = original(*arguments).split(".")
        return ".".join((head, body, signature[:-8] + "AAAAAAAA"))

    provider.memory.id_token = forged
    assert "BadSignatureError" in refused(provider, store, Browser()).message


@pytest.mark.parametrize("token", ["", 5, None, ...])
def test_no_id_token(token: Any, provider: OidcProvider, store: TokenStore) -> None:
    provider.tokens = {"id_token": token}
    assert refused(provider, store, Browser()).code == "CMD-LOGIN-022"


@pytest.mark.parametrize("token", ["x", "a.b.c", "a.b.c.d.e", "é.é.é", "..", "eyJhbGciOiJSUzI1NiJ9..", "x" * 100_000])
def test_an_id_token_that_is_none(token: str, provider: OidcProvider, store: TokenStore) -> None:
    provider.tokens = {"id_token": token}
    error = refused(provider, store, Browser())
    assert error.code == "CMD-LOGIN-023"
    assert len(error.message) < 200


BAD_ANSWERS = [
    (plain(200, "<html>"), "CMD-LOGIN-012"),
    (plain(200, "[]"), "CMD-LOGIN-012"),
    (plain(200, "[" * 100_000), "CMD-LOGIN-012"),
    (plain(200, ""), "CMD-LOGIN-012"),
    (plain(500, "out of order"), "CMD-LOGIN-010"),
    (plain(404, "<html>"), "CMD-LOGIN-010"),
    (Reply(200, b"{" + b" " * (2 << 20) + b"}"), "CMD-LOGIN-010"),
    (redirect("https://evil.example.com/"), "CMD-LOGIN-011"),
    (slow(30), "CMD-LOGIN-010"),
    (Reply(trickle=0.2), "CMD-LOGIN-010"),
    (dropped(), "CMD-LOGIN-010"),
    (Reply(cut=5), "CMD-LOGIN-010"),
]  # fmt: skip


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/keys"])
@pytest.mark.parametrize(("answer", "code"), BAD_ANSWERS)
def test_answers_that_make_no_sense(
    path: str, answer: Reply, code: str, provider: OidcProvider, store: TokenStore
) -> None:
    """A malformed answer made the program wait for ever."""
    provider.script(answer, times=math.inf, path=path)
    # Only an answer that never ends may run into the time limit: a busy machine needs longer for the others.
    timeout = 0.4 if answer.delay or answer.trickle else 20
    limits = Limits(request_attempts=2, request_backoff=0.01, response_seconds=timeout + 0.1)
    error = refused(provider, store, Browser(), limits, timeout=timeout)
    assert error.code == code
    assert "Lieutenant" not in error.message + error.hint


@pytest.mark.parametrize("key", ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize(
    ("value", "code"),
    [
        (..., "CMD-LOGIN-012"),
        (5, "CMD-LOGIN-012"),
        ("http://idp.example.com/x", "CMD-LOGIN-002"),
        ("file:///etc/passwd", "CMD-LOGIN-002"),
        ("https://user@idp.example.com/", "CMD-LOGIN-002"),
        ("https://idp.example.com/\x1b", "CMD-LOGIN-002"),
        ("--option", "CMD-LOGIN-002"),
        ("https://[", "CMD-LOGIN-002"),
    ],
)
def test_a_discovery_document_with_a_bad_url(
    key: str, value: Any, code: str, provider: OidcProvider, store: TokenStore
) -> None:
    provider.document = {key: value}
    browser = Browser()
    assert refused(provider, store, browser).code == code
    assert browser.visited == []


@pytest.mark.parametrize(
    "url", ["http://idp.example.com/x", "idp.example.com", "ftp://x", "https://", "https://u:p@x/"]
)
def test_a_discovery_url_without_encryption(url: str, provider: OidcProvider, store: TokenStore) -> None:
    error = refused(provider, store, Browser(), discovery_url=url)
    assert (error.code, error.exit_code) == ("CMD-LOGIN-002", 4)
    assert "u:p" not in error.message


@pytest.mark.parametrize("keys", [[], None, [{"kty": "RSA"}], [5], [{"kty": "RSA", "n": "AQAB", "e": 5}]])
def test_keys_that_are_none(keys: Any, provider: OidcProvider, store: TokenStore) -> None:
    provider.script(answering({"keys": keys}), path="/keys")
    assert refused(provider, store, Browser()).code == "CMD-LOGIN-012"


def test_a_secret_that_the_provider_repeats(provider: OidcProvider, store: TokenStore) -> None:
    browser = _Remembering(provider)
    assert "***" in refused(provider, store, browser).message


class _Remembering(Browser):
    """Lets the provider refuse in words that hold the code."""

    def __init__(self, provider: OidcProvider) -> None:
        super().__init__()
        self.provider = provider

    def visit(self, url: str) -> None:
        back = self.way_back(url)
        code = parse_qs(urlsplit(back).query)["code"][0]
        refusal = {"error": "invalid_grant", "error_description": f"no such code: {code}"}
        self.provider.script(answering(refusal, status=400), path="/token")
        self.pages.put(self.get(back))
        assert code not in self.pages.queue[0][1]


@pytest.mark.parametrize("issuer", ["https://evil.example.com", "", "é"])
def test_an_answer_of_another_provider(issuer: str, provider: OidcProvider, store: TokenStore) -> None:
    """RFC 9207: providers that are mixed up."""
    provider.callback = {"iss": issuer}
    assert refused(provider, store, Browser()).code == "CMD-LOGIN-025"
    assert all(request.path != "/token" for request in provider.requests)


def test_a_provider_that_names_itself(provider: OidcProvider, store: TokenStore) -> None:
    provider.document = {"authorization_response_iss_parameter_supported": True}
    assert refused(provider, store, Browser()).code == "CMD-LOGIN-025"
    provider.callback = {"iss": provider.url}
    attempt(provider, store, Browser())


def test_a_return_without_a_code(provider: OidcProvider, store: TokenStore) -> None:
    """It ended with exit code 0."""
    provider.callback = {"code": ...}
    assert refused(provider, store, Browser()).code == "CMD-LOGIN-012"


def test_nobody_logs_in(provider: OidcProvider, store: TokenStore) -> None:
    """There was no overall timeout."""
    collected: list[Any] = []
    with pytest.raises(CommodoreError) as caught:
        log_in(
            login_options(provider), store, make_context(announce=collected.append, limits=Limits(login_seconds=0.5))
        )
    assert caught.value.code == "CMD-LOGIN-033"
    (page,) = [event for event in collected if isinstance(event, PageToVisit)]
    assert not page.opened
    redirect_uri = parse_qs(urlsplit(page.url).query)["redirect_uri"][0]
    port = urlsplit(redirect_uri).port or 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_an_unreachable_provider(provider: OidcProvider, store: TokenStore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
    error = refused(provider, store, Browser(), Limits(request_backoff=0.01), discovery_url=url)
    assert (error.code, error.exit_code) == ("CMD-LOGIN-010", 3)
    assert "--oidc-discovery-url" in error.hint


def test_a_failure_that_passes(provider: OidcProvider, store: TokenStore) -> None:
    provider.script(failing(503), times=2, path="/.well-known/openid-configuration")
    attempt(provider, store, Browser(), Limits(request_backoff=0.01))


def test_no_token_is_written_anywhere_but_into_the_store(
    provider: OidcProvider, store: TokenStore, capfd: pytest.CaptureFixture[str]
) -> None:
    browser = Browser()
    login = attempt(provider, store, browser)
    entry = store.read(API)
    assert entry is not None
    out, err = capfd.readouterr()
    said = out + err + repr(browser.collected) + repr(login) + json.dumps(browser.pages.get(timeout=10))
    for secret in (entry["id_token"], entry["access_token"], entry["refresh_token"]):
        assert secret not in said
