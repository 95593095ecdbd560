"""The one HTTP server: addresses, pages, and requests with a token."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator

import pytest

from commodore.base.errors import CommodoreError
from commodore.core.serving import Reply, Routes, probe, read_address, serving

PAGES = Routes(
    {
        "/metrics": lambda: Reply.metrics(b"a 1\n"),
        "/healthz": lambda: probe(True),
        "/readyz": lambda: probe(False),
        "/broken": lambda: probe(bool(1 // 0)),
    },
    {"/echo": lambda body: Reply(202, body)},
    "s3cret",
)


@pytest.fixture
def port() -> Iterator[int]:
    with serving(":0", PAGES) as port:
        yield port


def ask(port: int, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8080", ("127.0.0.1", 8080)),
        ("0.0.0.0:8080", ("0.0.0.0", 8080)),
        ("[::]:8080", ("::", 8080)),
        ("[::1]:1", ("::1", 1)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_all_interfaces_only_where_they_are_written(text: str, address: tuple[str, int]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["", "8080", ":x", "x:y", ":70000", ":²"])
def test_invalid_addresses(text: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        read_address(text)
    assert caught.value.code == "CMD-SERVE-001"


def test_without_a_host_only_this_machine_is_listened_on(port: int) -> None:
    with contextlib.closing(socket.socket()) as other:
        other.bind(("127.0.0.2", port))  # free, as nothing listens on all interfaces


def test_an_ipv6_address() -> None:
    with serving("[::1]:0", PAGES) as port, contextlib.closing(http.client.HTTPConnection("::1", port)) as connection:
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200


def test_an_address_that_is_taken(port: int) -> None:
    with pytest.raises(CommodoreError) as caught, serving(f"127.0.0.1:{port}", PAGES):
        raise AssertionError
    assert caught.value.code == "CMD-SERVE-002"


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/metrics", (200, "a 1\n")),
        ("GET", "/metrics?x=1", (200, "a 1\n")),
        ("GET", "/healthz", (200, "ok\n")),
        ("GET", "/readyz", (503, "not ok\n")),
        ("GET", "/broken", (500, "internal error: ZeroDivisionError\n")),
        ("GET", "/echo", (404, "no such page\n")),
        ("POST", "/other", (404, "no such page\n")),
        ("POST", "/metrics", (405, "only GET\n")),
    ],
)
def test_pages(port: int, method: str, path: str, answer: tuple[int, str]) -> None:
    assert ask(port, method, path) == answer


def test_a_request_with_the_token_hands_over_its_body(port: int) -> None:
    assert ask(port, "POST", "/echo", b"x", {"Authorization": "Bearer s3cret"}) == (202, "x")


@pytest.mark.parametrize("token", ["", "wrong"])
def test_requests_without_the_token(port: int, token: str) -> None:
    assert ask(port, "POST", "/echo", b"x", {"Authorization": f"Bearer {token}"})[0] == 401
    with serving(":0", Routes({}, PAGES.post)) as open_port:
        assert ask(open_port, "POST", "/echo", b"x", {"Authorization": f"Bearer {token}"})[0] == 401


def test_a_body_that_is_announced_too_large(port: int) -> None:
    """It is refused at its head: whoever sends the rest all the same may not see the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.putrequest("POST", "/echo")
    for name, value in {"Authorization": "Bearer s3cret", "Content-Length": str((1 << 20) + 1)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    with contextlib.closing(connection):
        assert connection.getresponse().status == 413


def test_a_line_without_end_is_cut_off(port: int) -> None:
    with contextlib.closing(socket.create_connection(("127.0.0.1", port))) as connection:
        connection.sendall(b"G" * 70_000)
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            assert b"200" not in connection.recv(1 << 16)
