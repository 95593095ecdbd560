"""The server that the browser comes back to: where it listens, and what it does not take."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing

import pytest
import requests

from commodore.base.errors import EnvironmentFault, UsageError
from commodore.base.events import ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant.login.callback import listening
from commodore.core.lieutenant.login.options import CallbackSettings

FREE = CallbackSettings(port=0)


def test_it_listens_on_this_machine_alone() -> None:
    """It listened on all interfaces."""
    assert CallbackSettings().addresses() == ("127.0.0.1", "::1")
    with listening(FREE, Limits(), ignore) as server:
        bound = {listener.server_address[0] for listener in server._servers}
    assert bound <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in bound


@pytest.mark.parametrize(
    ("address", "expected"), [("0.0.0.0", "0.0.0.0"), ("::", "::"), ("[::1]", "::1"), ("127.0.0.2", "127.0.0.2")]
)
def test_other_addresses_when_asked(address: str, expected: str) -> None:
    assert CallbackSettings(address).addresses() == (expected,)


@pytest.mark.parametrize("address", ["", "example.com", "localhost:80", "-1", "0", "127.0.0.1\n"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(UsageError, match="not a valid address"):
        CallbackSettings(address).addresses()


@pytest.mark.parametrize("port", [-1, 65536, 1 << 70])
def test_ports_that_are_none(port: int) -> None:
    with pytest.raises(UsageError, match="not a valid port"):
        CallbackSettings(port=port).addresses()


def test_a_container_listens_everywhere_and_the_browser_still_says_localhost() -> None:
    with listening(CallbackSettings("0.0.0.0", 0), Limits(), ignore) as server:
        server.start("state")
        assert server.redirect_uri == f"http://localhost:{server.port}"
        thread = threading.Thread(
            target=lambda: requests.get(f"http://127.0.0.1:{server.port}/?state=state&code=c", timeout=10)
        )
        thread.start()
        callback = server.wait(time.monotonic() + 10)
        assert callback is not None
        assert callback.code == "c"
        callback.succeed(Limits())
        thread.join()


def test_an_address_of_another_machine() -> None:
    with pytest.raises(EnvironmentFault) as caught, listening(CallbackSettings("192.0.2.1", 0), Limits(), ignore):
        pass
    assert caught.value.code == "CMD-LOGIN-032"


def test_the_port_is_free_afterwards() -> None:
    with listening(FREE, Limits(), ignore) as server:
        server.start("state")
        port = server.port
    with listening(CallbackSettings(port=port), Limits(), ignore) as server:
        assert server.port == port


def test_two_logins_at_once() -> None:
    with (
        listening(FREE, Limits(), ignore) as first,
        pytest.raises(EnvironmentFault) as caught,
        listening(CallbackSettings(port=first.port), Limits(), ignore),
    ):
        pass
    assert caught.value.code == "CMD-LOGIN-030"


def test_a_connection_that_says_nothing_is_dropped_and_harms_nobody() -> None:
    limits = Limits(callback_request_seconds=0.2)
    with listening(FREE, limits, ignore) as server:
        server.start("state")
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=10)) as silent:
            silent.sendall(b"GET /")
            assert requests.get(f"http://127.0.0.1:{server.port}/x", timeout=10).status_code == 404
            assert silent.recv(100) == b""


@pytest.mark.parametrize(
    "request_line",
    [b"GET //[ HTTP/1.1", b"GET /?" + b"a=1&" * 100 + b" HTTP/1.1", b"GET /?" + b"x" * 70_000 + b" HTTP/1.1", b"\xff"],
)
def test_malformed_requests(request_line: bytes) -> None:
    with listening(FREE, Limits(), ignore) as server:
        server.start("state")
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=10)) as connection:
            connection.sendall(request_line + b"\r\nHost: localhost\r\n\r\n")
            assert b"200" not in connection.recv(100)
        assert server.wait(time.monotonic()) is None


def test_whoever_waits_for_a_page_is_let_go_when_the_program_ends() -> None:
    with listening(FREE, Limits(), ignore) as server:
        server.start("state")
        browser = closing(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        connection = browser.__enter__()
        connection.sendall(b"GET /?state=state&code=c HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert server.wait(time.monotonic() + 10) is not None
    assert connection.recv(10) == b""
    browser.__exit__(None, None, None)


def test_answers_may_not_be_framed_or_kept() -> None:
    with listening(FREE, Limits(), ignore) as server:
        server.start("state")
        answer = requests.get(f"http://127.0.0.1:{server.port}/favicon.ico", timeout=10)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["Server"].strip() == "commodore"
