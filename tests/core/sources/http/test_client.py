"""The one client against servers on loopback that misbehave."""

from __future__ import annotations

import gzip
import math
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.events import Event, Noted
from commodore.base.limits import Limits
from commodore.core.sources.http import Answer, Client, Meaning, Policy, Problem
from tests.world.certificates import make_certificate
from tests.world.lieutenant import LieutenantServer, Reply, dropped, failing, plain, redirect, slow, truncated

QUICK = Limits(request_backoff=0.001)
POLICY = Policy(timeout=5, seconds=20, size=10_000, attempts=4)
SECRET = {"Authorization": "Bearer secret"}
MEANINGS = {problem: Meaning(EnvironmentFault, problem.name, f"about {problem.name}") for problem in Problem}


@pytest.fixture
def collected() -> list[Event]:
    return []


@pytest.fixture
def client(collected: list[Event]) -> Iterator[Client]:
    http_client = Client(Context(collected.append, QUICK), MEANINGS)
    yield http_client
    http_client.close()


@pytest.fixture
def server() -> Iterator[LieutenantServer]:
    with LieutenantServer() as lieutenant:
        yield lieutenant


def refused(client: Client, url: str, policy: Policy = POLICY, **options: Any) -> tuple[Problem, str]:
    """The problem and the message that a GET ends in, with nothing secret in it."""
    with pytest.raises(CommodoreError) as caught:
        client.get(url, policy, **options)
    assert caught.value.hint == f"about {caught.value.code}"
    assert "secret" not in caught.value.message
    return Problem[caught.value.code], caught.value.message


class Sheet:
    """Collects a body, and what the total was said to be in each attempt."""

    def __init__(self) -> None:
        self.totals: list[int | None] = []
        self.content = b""

    def begin(self, total: int | None) -> None:
        self.totals.append(total)
        self.content = b""

    def write(self, chunk: bytes) -> None:
        self.content += chunk


class Raw:
    """A server that answers one connection by these bytes, then by one every twentieth of a second until it is stopped,
    or resets the connection.
    """

    def __init__(self, beginning: bytes, *, reset: bool = False) -> None:
        self._beginning = beginning
        self._reset = reset
        self._stopping = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/"
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            connection.recv(4096)
            try:
                connection.sendall(self._beginning)
                if self._reset:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                while not self._stopping.wait(0.05):
                    connection.sendall(b"x")
            except OSError:
                return

    def __enter__(self) -> Raw:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        self._server.close()


# Answers


def test_an_answer_of_any_status(server: LieutenantServer, client: Client) -> None:
    server.script(plain(404, "not here", x_more="yes"))
    answer = client.get(f"{server.url}/a?token=secret", POLICY)
    assert answer == Answer(f"{server.url}/a", 404, "Not Found", answer.headers, b"not here")
    assert answer.headers["x-more"] == "yes"
    assert len(server.requests) == 1


def test_a_body_goes_where_it_is_wanted(server: LieutenantServer, client: Client) -> None:
    """As it was sent: a digest of it is one of the file that was published."""
    sheet = Sheet()
    packed = gzip.compress(b"one")
    server.script(Reply(200, packed, {"Content-Encoding": "gzip"}))
    assert client.get(server.url, POLICY, sink=sheet).body == b""
    assert (sheet.content, sheet.totals) == (packed, [len(packed)])
    assert server.requests[0].headers["accept-encoding"] == "identity"
    server.script(plain(404, "words"))
    assert client.get(server.url, POLICY, sink=sheet).body == b"words"
    assert sheet.content == packed


def test_what_a_sink_raises_is_no_fault_of_the_network(server: LieutenantServer, client: Client) -> None:
    class Full(Sheet):
        def write(self, chunk: bytes) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        client.get(server.url, POLICY, sink=Full())
    assert len(server.requests) == 1


# Time


@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 "])
@pytest.mark.parametrize("kind", ["seconds", "deadline"])
def test_an_answer_that_drips(beginning: bytes, kind: str, client: Client) -> None:
    """Byte by byte within the timeout, but not within the time for a whole answer, or for everything."""
    with Raw(beginning) as raw:
        short = replace(POLICY, seconds=0.3) if kind == "seconds" else replace(POLICY, deadline=time.monotonic() + 0.3)
        problem, message = refused(client, raw.url, short)
    assert problem is Problem.TOO_SLOW
    # A deadline leaves a little less than what it was when it was set.
    assert re.search(rf"the answer of {re.escape(raw.url)} was not complete after 0\.\d+ s", message)


@pytest.mark.parametrize(
    ("beginning", "problem", "message"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", Problem.TOO_SLOW, "not complete after 0.4 s"),
        (b"HTTP/1.1 ", Problem.TOO_SLOW, "not complete after 0.4 s"),
        (b"HTTP/1.1 200 OK\r\n\r\n", Problem.TOO_FEW, "comes at less than 9000 bytes per second"),
    ],
)
def test_an_answer_that_comes_too_slowly(beginning: bytes, problem: Problem, message: str, client: Client) -> None:
    """Byte by byte within the timeout; the time for all of it is far away."""
    with Raw(beginning) as raw:
        actual, text = refused(client, raw.url, replace(POLICY, timeout=0.2, seconds=1000, rate=9000))
    assert actual is problem
    assert message in text


def test_redirects_count_into_the_time_of_an_attempt(server: LieutenantServer, client: Client) -> None:
    """Four answers that are each in time are too slow together."""
    for _ in range(4):
        server.script(replace(redirect("/x"), delay=0.3))
    assert refused(client, server.url, replace(POLICY, seconds=0.9))[0] is Problem.TOO_SLOW
    assert len(server.requests) < 5


def test_a_server_that_says_nothing(server: LieutenantServer, client: Client) -> None:
    server.script(slow(60), times=math.inf)
    problem, message = refused(client, server.url, replace(POLICY, timeout=0.05, attempts=2))
    assert problem is Problem.NO_ANSWER
    assert "no answer within 0.05 s" in message
    assert len(server.requests) == 2


def test_after_the_deadline_nothing_is_sent(server: LieutenantServer, client: Client) -> None:
    assert refused(client, server.url, replace(POLICY, deadline=time.monotonic()))[0] is Problem.NO_TIME
    assert server.requests == []


def test_what_is_quick_is_not_cut_and_connections_are_kept(server: LieutenantServer, client: Client) -> None:
    assert [client.get(server.url, POLICY).status for _ in range(3)] == [200, 200, 200]
    assert server.connections == 1


# Size


@pytest.mark.parametrize("sink", [None, Sheet()], ids=["memory", "sink"])
def test_a_body_that_says_that_it_is_too_large(sink: Sheet | None, server: LieutenantServer, client: Client) -> None:
    server.script(Reply(200, b"x" * 101, cut=1))  # nobody waits for the rest of it
    problem, message = refused(client, server.url, replace(POLICY, size=100), sink=sink)
    assert problem is Problem.TOO_LARGE
    assert "larger than 100 bytes" in message
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"80\r\n" + b"x" * 128 + b"\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"}),
        Reply(200, gzip.compress(b"x" * 1_000), {"Content-Encoding": "gzip"}),
    ],
    ids=["of unknown length", "packed"],
)
def test_a_body_that_becomes_too_large(reply: Reply, server: LieutenantServer, client: Client) -> None:
    server.script(reply)
    assert refused(client, server.url, replace(POLICY, size=100))[0] is Problem.TOO_LARGE


def test_a_body_as_large_as_allowed(server: LieutenantServer, client: Client) -> None:
    server.script(Reply(200, b"x" * 100))
    assert client.get(server.url, replace(POLICY, size=100)).body == b"x" * 100


# Redirects and credentials

ELSEWHERE = replace(POLICY, other_servers=True)


def test_credentials_stay_on_their_server(server: LieutenantServer, client: Client) -> None:
    with LieutenantServer() as other:
        server.script(redirect("/b", 301), path="/a")
        server.script(redirect(f"{other.url}/c"), path="/b")
        other.script(redirect(f"{server.url}/d"), path="/c")
        client.get(f"{server.url}/a", ELSEWHERE, headers={"X-Asked": "yes"}, credentials=SECRET)
        requests = (*server.requests, *other.requests)
        sent = {request.path: request.headers.get("authorization") for request in requests}
        assert sent == {"/a": "Bearer secret", "/b": "Bearer secret", "/c": None, "/d": None}
        assert other.requests[0].headers["x-asked"] == "yes"


def test_a_password_in_a_url_is_sent_to_its_server_alone(server: LieutenantServer, client: Client) -> None:
    with LieutenantServer() as other:
        server.script(redirect("/b"), path="/a")
        server.script(redirect(other.url.replace("://", "://you:too@") + "/c"), path="/b")
        url = server.url.replace("://", "://me:secret@") + "/a"
        assert client.get(url, ELSEWHERE, credentials=SECRET).url == f"{other.url}/c"
        requests = (*server.requests, *other.requests)
        sent = {request.path: request.headers.get("authorization") for request in requests}
        assert sent == {"/a": "Basic bWU6c2VjcmV0", "/b": "Basic bWU6c2VjcmV0", "/c": None}


def test_netrc_says_nothing_about_servers_that_redirects_lead_to(server: LieutenantServer, client: Client) -> None:
    (Path.home() / ".netrc").write_text("default login tess password secret\n")
    (Path.home() / ".netrc").chmod(0o600)
    with LieutenantServer() as other:
        server.script(redirect(other.url.replace("127.0.0.1", "localhost")))
        client.get(server.url, ELSEWHERE)
        assert ["authorization" in request.headers for request in (*server.requests, *other.requests)] == [False, False]


def test_other_servers_are_refused_where_they_are_not_expected(server: LieutenantServer, client: Client) -> None:
    with LieutenantServer() as other:
        for location in (other.url, server.url.replace("127.0.0.1", "localhost")):
            server.script(redirect(location))
            problem, message = refused(client, server.url, credentials=SECRET)
            assert problem is Problem.REDIRECT_REFUSED
            assert f"redirects to {location}" in message
        server.script(redirect(other.url, 307))
        with pytest.raises(CommodoreError) as caught:  # a body is never sent to somebody else
            client.post(server.url, ELSEWHERE, b"body", {}, {})
        assert caught.value.code == Problem.REDIRECT_REFUSED.name
        assert other.requests == []


@pytest.mark.parametrize("policy", [POLICY, ELSEWHERE], ids=["same", "elsewhere"])
def test_redirects_do_not_leave_https(
    policy: Policy, collected: list[Event], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.chain))
    client = Client(Context(collected.append, QUICK), MEANINGS)
    with LieutenantServer(certificate=certificate) as server, LieutenantServer() as other:
        server.script(redirect(other.url))
        problem, message = refused(client, server.url, policy, credentials=SECRET)
        assert other.requests == []
    client.close()
    assert problem is Problem.REDIRECT_REFUSED
    assert "which is not https" in message or policy is POLICY


@pytest.mark.parametrize("location", ["http://[", "file:///etc/passwd", "https:///x", "gopher://127.0.0.1/"])
def test_redirects_lead_to_web_servers(location: str, server: LieutenantServer, client: Client) -> None:
    server.script(redirect(location))
    assert refused(client, server.url, ELSEWHERE)[0] is Problem.REDIRECT_REFUSED


def test_endless_redirects_end(server: LieutenantServer, client: Client) -> None:
    server.script(redirect("/again"), times=math.inf)
    assert refused(client, server.url)[0] is Problem.REDIRECT_LOOP
    assert len(server.requests) == QUICK.redirects + 1


def test_a_post_that_is_redirected(server: LieutenantServer, client: Client) -> None:
    server.script(redirect("/b", 302), plain(200, "done"), redirect("/login", 303))
    assert client.post(server.url, POLICY, b"body", {}, SECRET).body == b"done"
    assert [(request.method, request.body) for request in server.requests] == [("POST", b"body")] * 2
    with pytest.raises(CommodoreError) as caught:
        client.post(server.url, POLICY, b"body", {}, SECRET)
    assert caught.value.code == Problem.REDIRECT_TO_PAGE.name


# Retries


@pytest.mark.parametrize("reply", [failing(429), failing(502), failing(503), failing(504), dropped(), truncated(1)])
def test_what_may_pass_is_repeated(
    reply: Reply, server: LieutenantServer, client: Client, collected: list[Event]
) -> None:
    server.script(reply, times=3)
    sheet = Sheet()
    client.get(server.url, POLICY, sink=sheet)
    assert sheet.content == b"{}", "what came before does not stay"
    said = [event.message for event in collected if isinstance(event, Noted)]
    assert [text.rpartition("; ")[2] for text in said] == [
        "trying again in 0.001 s (1 of 3)",
        "trying again in 0.002 s (2 of 3)",
        "trying again in 0.004 s (3 of 3)",
    ]


def test_a_connection_that_is_reset(client: Client) -> None:
    for beginning in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nxx"):
        with Raw(beginning, reset=True) as raw:
            problem, message = refused(client, raw.url, replace(POLICY, attempts=1))
        assert problem in (Problem.UNREACHABLE, Problem.BROKEN_OFF)
        assert raw.url in message


def test_the_last_answer_counts(server: LieutenantServer, client: Client) -> None:
    server.script(failing(503), times=math.inf)
    assert client.get(server.url, POLICY).status == 503
    assert len(server.requests) == POLICY.attempts


@pytest.mark.parametrize("reply", [failing(500), failing(404), failing(429, retry_after="3600")])
def test_what_will_not_pass_is_not_repeated(reply: Reply, server: LieutenantServer, client: Client) -> None:
    server.script(reply)
    assert client.get(server.url, POLICY).status == reply.status
    assert len(server.requests) == 1


def test_the_pause_that_is_asked_for_is_kept(server: LieutenantServer, client: Client, collected: list[Event]) -> None:
    server.script(failing(503, retry_after="1"))
    assert client.get(server.url, POLICY).status == 200
    assert [event.message for event in collected if isinstance(event, Noted)] == [
        f"{server.url} returned 503; trying again in 1 s (1 of 3)"
    ]


def test_a_post_is_sent_once(server: LieutenantServer, client: Client) -> None:
    server.script(failing(503), dropped())
    assert client.post(server.url, POLICY, b"", {}, {}).status == 503
    with pytest.raises(CommodoreError):
        client.post(server.url, POLICY, b"", {}, {})
    assert len(server.requests) == 2


# Trust, proxies, URLs


def test_a_server_that_is_not_trusted(client: Client, tmp_path: Path) -> None:
    with LieutenantServer(certificate=make_certificate(tmp_path)) as server:
        problem, message = refused(client, server.url)
        assert server.requests == []
    assert problem is Problem.UNTRUSTED
    assert "self-signed" in message


def test_tls_that_is_none(client: Client) -> None:
    with Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n") as raw:
        url = raw.url.replace("http:", "https:")
        assert refused(client, url, replace(POLICY, attempts=1))[0] is Problem.UNTRUSTED


def test_a_packed_body_that_is_not(server: LieutenantServer, client: Client) -> None:
    server.script(Reply(200, b"plain", {"Content-Encoding": "gzip"}))
    assert refused(client, server.url)[0] is Problem.UNREADABLE


def test_a_proxy_that_refuses(server: LieutenantServer, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url.replace("://", "://me:secret@"))
    server.script(failing(403), method="CONNECT")
    assert refused(client, "https://api.example.com")[0] is Problem.PROXY


@pytest.mark.parametrize("url", ["http://[", "ftp://127.0.0.1/x", "file:///etc/passwd", "127.0.0.1:1", "http://"])
def test_what_is_no_url_of_a_web_server(url: str, client: Client, collected: list[Event]) -> None:
    assert refused(client, url)[0] is Problem.INVALID_URL
    assert collected == [], "asked for once"
