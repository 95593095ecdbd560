"""The pages for probes and for Prometheus."""

from __future__ import annotations

import asyncio

import pytest

from commodore.base.errors import EnvironmentFault, UsageError
from commodore.observe.cluster.serving import read_address, serve


def ask(request: bytes) -> bytes:
    async def run() -> bytes:
        server = await serve("127.0.0.1:0", {"/metrics": lambda: (200, "text/plain", b"a 1\n")})
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        server.close()
        return answer

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /metrics HTTP/1.1\r\n\r\n", b"200 OK"),
        (b"GET /metrics?x=1 HTTP/1.1\r\n\r\n", b"200 OK"),
        (b"GET /other HTTP/1.1\r\n\r\n", b"404 Not Found"),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", b"405 Method Not Allowed"),
        (b"\r\n", b"405 Method Not Allowed"),
    ],
)
def test_answers(request_line: bytes, status: bytes) -> None:
    answer = ask(request_line)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert (b"\r\n\r\na 1\n" in answer) is (status == b"200 OK")


def test_a_line_without_end_is_cut_off() -> None:
    assert ask(b"G" * 20_000) == b""


@pytest.mark.parametrize(
    ("text", "address"), [(":8080", ("", 8080)), ("127.0.0.1:1", ("127.0.0.1", 1)), ("[::1]:1", ("::1", 1))]
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["8080", ":x", ":70000", "a"])
def test_no_addresses(text: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        read_address(text)


def test_an_address_that_is_taken() -> None:
    async def run() -> None:
        first = await serve("127.0.0.1:0", {})
        try:
            await serve(f"127.0.0.1:{first.sockets[0].getsockname()[1]}", {})
        finally:
            first.close()

    with pytest.raises(EnvironmentFault) as caught:
        asyncio.run(run())
    assert caught.value.code == "CMD-OBS-014"
