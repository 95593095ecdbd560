"""The client against a real server on loopback that misbehaves."""

from __future__ import annotations

import gzip
import json
import math
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base import documents
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError, UsageError
from commodore.base.events import Event, Noted, Warned, ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant import LieutenantClient
from commodore.version import __version__
from tests.world.certificates import make_certificate
from tests.world.context import make_context
from tests.world.lieutenant import (
    LieutenantServer,
    Reply,
    answering,
    cluster,
    dropped,
    failing,
    plain,
    redirect,
    slow,
    tenant,
    truncated,
)

TOKEN = "tok-123"
QUICK = Limits(request_backoff=0.001)


def server(**options: Any) -> LieutenantServer:
    return LieutenantServer([cluster(), cluster("c-two", "t-two")], [tenant(), tenant("t-two")], token=TOKEN, **options)


def client(url: str | None, token: str | None = TOKEN, limits: Limits = QUICK, **options: Any) -> LieutenantClient:
    context = make_context(options.pop("announce", ignore), limits)
    return LieutenantClient(url, lambda: token, context, **options)


def failure(ask: Callable[[], object]) -> CommodoreError:
    """The error that asking ends in, with nothing secret in it."""
    with pytest.raises(CommodoreError) as caught:
        ask()
    error = caught.value
    assert TOKEN not in repr(documents.plain(error))
    assert error.hint or error.code == "CMD-API-014"
    return error


@pytest.mark.requirement("C4")
def test_what_is_asked_and_how() -> None:
    """The API is asked over HTTP, with the bearer token and our name."""
    with server(prefix="/api") as api, client(api.url + "//") as asking:
        assert asking.cluster("c-one") == cluster()
        assert asking.tenant("t-two") == tenant("t-two")
        assert [each["id"] for each in asking.clusters()] == ["c-one", "c-two"]
        assert [each["id"] for each in asking.clusters(tenant="t-two", sort_by="id")] == ["c-two"]
        assert [request.target for request in api.requests] == [
            "/api/clusters/c-one",
            "/api/tenants/t-two",
            "/api/clusters/",
            "/api/clusters/?sort_by=id&tenant=t-two",
        ]
        for request in api.requests:
            assert request.headers["authorization"] == f"Bearer {TOKEN}"
            assert request.headers["user-agent"] == f"commodore/{__version__}"


def test_a_report() -> None:
    metadata = {"lastCompile": "2026-01-31T12:34:56.789+01:00", "instances": {"ü": {}}}
    with server() as api, client(api.url) as asking:
        asking.report_compile("c-one", metadata)
        assert api.reports == [("c-one", metadata)]
        (request,) = api.requests
        assert (request.method, request.target) == ("POST", "/clusters/c-one/compileMeta")
        assert request.headers["content-type"] == "application/json"


def test_ids_stay_one_segment() -> None:
    """`..` in an id used to lead to other endpoints."""
    with server() as api, client(api.url) as asking:
        assert failure(lambda: asking.cluster("../tenants/t-one")).code == "CMD-API-018"
        assert api.requests[-1].target == "/clusters/..%2Ftenants%2Ft-one"
        assert failure(lambda: asking.cluster("..")).code == "CMD-API-017"
        assert len(api.requests) == 1


def test_missing_url_and_token() -> None:
    """Both used to end in misleading messages about connections."""
    assert failure(lambda: client(None)).code == "CMD-API-001"
    with server() as api:
        for token in (None, ""):
            with client(api.url, token) as asking:
                error = failure(lambda asking=asking: asking.clusters())  # type: ignore[misc]
                assert isinstance(error, UsageError)
                assert error.code == "CMD-API-003"
                assert "--api-token" in error.hint
                assert "COMMODORE_API_TOKEN" in error.hint
        assert api.requests == []


@pytest.mark.parametrize("token", ["a b", "a\nX-Evil: 1", "tökén"])
def test_a_token_that_is_none_is_not_sent_nor_shown(token: str) -> None:
    with server() as api, client(api.url, token) as asking:
        error = failure(asking.clusters)
        assert error.code == "CMD-API-004"
        assert token not in repr(documents.plain(error))
        assert api.requests == []


@pytest.mark.parametrize("timeout", [0, -1, math.nan])
def test_a_timeout_is_positive(timeout: float) -> None:
    assert failure(lambda: client("https://example.com", timeout=timeout)).code == "CMD-API-019"


@pytest.mark.parametrize(
    ("reply", "code", "said"),
    [
        (failing(401, "token expired"), "CMD-API-010", "401: token expired"),
        (plain(401, "Jwt is expired\n"), "CMD-API-010", "401: Jwt is expired"),
        (plain(401, "<html>", content_type="text/html"), "CMD-API-010", "401: Unauthorized"),
        (plain(403, ""), "CMD-API-011", "403: Forbidden"),
        (failing(404, "not here"), "CMD-API-018", "404: not here"),
        (failing(500, "database"), "CMD-API-009", "500: database"),
        (answering({"reason": ["x"]}, status=500), "CMD-API-009", "500: Internal Server Error"),
        (answering(["x"], status=418), "CMD-API-009", "418: I'm a Teapot"),
        (failing(400, f"bad {TOKEN}\x1b[31m\nnext"), "CMD-API-009", "400: bad ***[31m next"),
        (plain(400, "x" * 5000), "CMD-API-009", "400: " + "x" * 300 + "…"),
        (plain(304, ""), "CMD-API-009", "304: Not Modified"),
    ],
)
def test_the_status_comes_before_the_json(reply: Reply, code: str, said: str) -> None:
    """A plain-text 401 used to end as "cannot parse JSON"."""
    with server() as api, client(api.url) as asking:
        api.script(reply)
        error = failure(lambda: asking.cluster("c-one"))
        assert error.code == code
        assert error.exit_code == (3 if code == "CMD-API-009" else 1), "a repeated failure is not temporary"
        assert said in error.message
        assert api.url in error.message
        assert len(api.requests) == 1


def test_an_unknown_cluster_is_the_users_to_correct() -> None:
    with server() as api, client(api.url) as asking:
        error = failure(lambda: asking.cluster("c-wrong"))
        assert isinstance(error, InputError)
        assert "cluster 'c-wrong'" in error.message
        assert "catalog list" in error.hint
        assert failure(lambda: asking.report_compile("c-wrong", {})).code == "CMD-API-018"


@pytest.mark.parametrize("body", ["<html>login</html>", "{", "NaN", '{"a": Infinity}', '["\\ud800"]', "[" * 100_000])
def test_an_answer_that_is_not_json(body: str) -> None:
    with server() as api, client(api.url) as asking:
        api.script(plain(200, body, content_type="text/html; charset=utf-8"))
        error = failure(asking.clusters)
        assert error.code == "CMD-API-015"
        assert "text/html" in error.message


@pytest.mark.parametrize("body", [{}, "x", [[]], [{}, None]])
def test_a_list_that_is_none(body: object) -> None:
    with server() as api, client(api.url) as asking:
        api.script(answering(body))
        assert failure(asking.clusters).code == "CMD-API-016"


@pytest.mark.parametrize("body", [[], "x", 5, None])
def test_an_object_that_is_none(body: object) -> None:
    with server() as api, client(api.url) as asking:
        api.script(answering(body))
        assert failure(lambda: asking.tenant("t-one")).code == "CMD-API-016"


def test_an_empty_body_is_an_empty_object() -> None:
    with server() as api, client(api.url) as asking:
        api.script(plain(200, ""))
        assert asking.cluster("c-one") == {}


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_that_is_too_large(packed: bool) -> None:
    body = json.dumps(["x" * 100_000]).encode()
    reply = Reply(200, gzip.compress(body), {"Content-Encoding": "gzip"}) if packed else Reply(200, body)
    with server() as api, client(api.url, limits=Limits(response_bytes=50_000)) as asking:
        api.script(reply)
        error = failure(asking.clusters)
        assert error.code == "CMD-API-014"
        assert "50000 bytes" in error.message


def test_packed_answers_are_read() -> None:
    with server() as api, client(api.url) as asking:
        api.script(Reply(200, gzip.compress(b'[{"id": "c"}]'), {"Content-Encoding": "gzip"}))
        assert asking.clusters() == [{"id": "c"}]
        api.script(Reply(200, b"[]", {"Content-Encoding": "gzip"}))
        assert failure(asking.clusters).code == "CMD-API-015"


def test_chunked_answers_are_read_and_must_be_complete() -> None:
    chunked = {"Transfer-Encoding": "chunked"}
    with server() as api, client(api.url) as asking:
        api.script(Reply(200, b"2\r\n[]\r\n0\r\n\r\n", chunked))
        assert asking.clusters() == []
        api.script(Reply(200, b"8\r\n[]", chunked, cut=5), times=math.inf)
        assert failure(asking.clusters).code == "CMD-API-006"


@pytest.mark.parametrize("reply", [failing(429), failing(502), failing(503), failing(504), dropped(), truncated()])
def test_what_may_pass_is_repeated(reply: Reply) -> None:
    collected: list[Event] = []
    with server() as api, client(api.url, announce=collected.append) as asking:
        api.script(reply, times=3)
        assert asking.cluster("c-one") == cluster()
        assert len(api.requests) == 4
    assert len([event for event in collected if isinstance(event, Noted) and "trying again" in event.message]) == 3


@pytest.mark.parametrize(
    ("reply", "code"),
    [(failing(503, "down"), "CMD-API-009"), (dropped(), "CMD-API-006"), (truncated(), "CMD-API-006")],
)
def test_repeating_ends(reply: Reply, code: str) -> None:
    with server() as api, client(api.url) as asking:
        api.script(reply, times=math.inf)
        error = failure(lambda: asking.cluster("c-one"))
        assert isinstance(error, EnvironmentFault)
        assert error.code == code
        assert len(api.requests) == QUICK.request_attempts


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_what_will_not_pass_is_not_repeated(status: int) -> None:
    with server() as api, client(api.url) as asking:
        api.script(failing(status))
        failure(lambda: asking.cluster("c-one"))
        assert len(api.requests) == 1


@pytest.mark.parametrize("reply", [failing(503), failing(429, retry_after="1"), dropped()])
def test_a_report_is_sent_once(reply: Reply) -> None:
    with server() as api, client(api.url) as asking:
        api.script(reply)
        failure(lambda: asking.report_compile("c-one", {}))
        assert len(api.requests) == 1


def test_the_pause_that_the_api_asks_for_is_kept() -> None:
    collected: list[Event] = []
    with server() as api, client(api.url, announce=collected.append) as asking:
        api.script(failing(429, retry_after="1"))
        asking.clusters()
        assert len(api.requests) == 2
    assert "trying again in 1 s" in str(collected[0])


@pytest.mark.parametrize("pause", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT", "9" * 5000])
def test_a_pause_that_is_too_long_is_not_waited_for(pause: str) -> None:
    with server() as api, client(api.url) as asking:
        api.script(failing(429, "slow down", retry_after=pause[:1000]))
        error = failure(asking.clusters)
        assert "429: slow down" in error.message
        assert len(api.requests) == 1


@pytest.mark.parametrize("pause", ["soon", "-5", "1.5"])
def test_a_pause_that_makes_no_sense_is_none(pause: str) -> None:
    with server() as api, client(api.url) as asking:
        api.script(failing(503, retry_after=pause))
        assert len(asking.clusters()) == 2


def test_slow_answers_end_in_an_error() -> None:
    """Read timeouts used to be a traceback."""
    with server() as api, client(api.url, timeout=0.05, limits=Limits(request_attempts=1)) as asking:
        api.script(slow(60), times=math.inf)
        for ask in (asking.clusters, lambda: asking.report_compile("c-one", {})):
            error = failure(ask)
            assert error.code == "CMD-API-007"
            assert "0.05 s" in error.message
            assert "--request-timeout" in error.hint


def test_answers_that_trickle_end_in_an_error() -> None:
    limits = Limits(request_attempts=1, response_seconds=0.05)
    with server() as api, client(api.url, timeout=60, limits=limits) as asking:
        api.script(Reply(trickle=0.02))
        assert failure(asking.clusters).code == "CMD-API-007"


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with client(f"http://127.0.0.1:{port}") as asking:
        error = failure(asking.clusters)
    assert error.code == "CMD-API-006"
    assert f"http://127.0.0.1:{port}/clusters/: Connection refused" in error.message
    assert "COMMODORE_API_URL" in error.hint


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", ".invalid", "*"])
def test_hosts_that_cannot_be(host: str) -> None:
    with client(f"https://{host}", limits=Limits(request_attempts=1)) as asking:
        assert failure(asking.clusters).code in ("CMD-API-002", "CMD-API-006")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_on_the_same_server_are_followed(status: int) -> None:
    with server() as api, client(api.url) as asking:
        api.script(redirect("/clusters/c-two", status), path="/clusters/c-one")
        assert asking.cluster("c-one")["id"] == "c-two"
        assert api.requests[-1].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirected_report_stays_a_report(status: int) -> None:
    with server() as api, client(api.url) as asking:
        api.script(redirect(f"{api.url}/clusters/c-two/compileMeta", status), path="/clusters/c-one/compileMeta")
        asking.report_compile("c-one", {"a": 1})
        assert api.reports == [("c-two", {"a": 1})]
        assert [request.method for request in api.requests] == ["POST", "POST"]


def test_a_report_that_is_sent_to_a_page() -> None:
    with server() as api, client(api.url) as asking:
        api.script(redirect("/login", 303))
        assert failure(lambda: asking.report_compile("c-one", {})).code == "CMD-API-013"


@pytest.mark.parametrize("status", [302, 307])
def test_the_token_does_not_go_to_another_server(status: int) -> None:
    """The report's redirect used to give the token to any host."""
    with server() as api, LieutenantServer([cluster()]) as other, client(api.url) as asking:
        for target in (
            other.url,
            f"http://localhost:{other.port}",
            f"http://user:pass@127.0.0.1:{api.port}",
            "http://[",
        ):
            for ask in (asking.clusters, lambda: asking.report_compile("c-one", {})):
                api.script(redirect(f"{target}/clusters/", status))
                error = failure(ask)
                assert isinstance(error, PolicyError)
                assert error.code == "CMD-API-012"
                assert "pass" not in error.message
        assert other.requests == []


def test_the_token_does_not_go_from_https_to_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.chain))
    with server(certificate=certificate) as api, LieutenantServer() as plain_api, client(api.url) as asking:
        api.script(redirect(plain_api.url), times=2)
        assert failure(asking.clusters).code == "CMD-API-012"
        assert failure(lambda: asking.report_compile("c-one", {})).code == "CMD-API-012"
        assert plain_api.requests == []


def test_endless_redirects_end() -> None:
    with server() as api, client(api.url) as asking:
        api.script(redirect("/clusters/"), times=math.inf)
        assert failure(asking.clusters).code == "CMD-API-013"
        assert len(api.requests) == QUICK.redirects + 1


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_certificate_authorities_of_the_environment(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path)
    with server(certificate=certificate) as api:
        with client(api.url) as asking:
            error = failure(asking.clusters)
            assert error.code == "CMD-API-008"
            assert "certificate" in error.message
            assert api.requests == []
        monkeypatch.setenv(variable, str(certificate.chain))
        with client(api.url) as asking:
            assert len(asking.clusters()) == 2


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_missing_file_of_certificate_authorities(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "/no/such/file")
    with client("https://127.0.0.1:1") as asking:
        assert failure(asking.clusters).code == "CMD-API-008"


def test_netrc_does_not_replace_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry in .netrc used to override the bearer header, here also after a redirect."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with server() as api, client(api.url) as asking:
        api.script(redirect("/clusters/c-two"), path="/clusters/c-one")
        asking.cluster("c-one")
        assert [request.headers["authorization"] for request in api.requests] == [f"Bearer {TOKEN}"] * 2


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        with client("http://lieutenant.invalid") as asking:
            assert len(asking.clusters()) == 2
            assert proxy.requests[-1].target == "http://lieutenant.invalid/clusters/"
        proxy.script(failing(403), method="CONNECT")
        with client("https://lieutenant.invalid") as asking:
            error = failure(asking.clusters)
            assert error.code == "CMD-API-026"
            assert "HTTPS_PROXY" in error.hint
        assert (proxy.requests[-1].method, proxy.requests[-1].target) == ("CONNECT", "lieutenant.invalid:443")
        assert "authorization" not in proxy.requests[-1].headers


def test_a_proxy_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("http://", "http://127.0.0.1:1", "nonsense://x", "http://user:secret@[::1"):
        monkeypatch.setenv("HTTPS_PROXY", value)
        with client("https://lieutenant.invalid", limits=Limits(request_attempts=1)) as asking:
            error = failure(asking.clusters)
            assert error.code == "CMD-API-026"
            assert "secret" not in error.message


def test_a_token_without_encryption_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Http used to be accepted silently."""
    collected: list[Event] = []
    with server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with client("http://lieutenant.invalid", announce=collected.append) as asking:
            asking.clusters()
            asking.clusters()
    (event,) = collected
    assert isinstance(event, Warned)
    assert event.code == "CMD-API-050"
    collected.clear()
    monkeypatch.delenv("http_proxy")
    with server() as api, client(api.url, announce=collected.append) as asking:
        asking.clusters()
    assert collected == []


def test_the_token_is_asked_for_each_time() -> None:
    tokens = iter([TOKEN, "expired", TOKEN])
    with server() as api, LieutenantClient(api.url, lambda: next(tokens), make_context(announce=ignore)) as asking:
        asking.clusters()
        assert failure(asking.clusters).code == "CMD-API-010"
        asking.clusters()


def test_connections_are_kept() -> None:
    """Every request used to open a connection of its own."""
    with server() as api, client(api.url) as asking:
        for _ in range(3):
            asking.cluster("c-one")
        assert api.connections == 1
