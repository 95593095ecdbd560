"""The servers on loopback: what they raise is seen, they end whatever clients do, and scripts are used up in order."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import requests

from tests.world.certificates import make_certificate
from tests.world.loopback import LoopbackHandler, LoopbackServer, Scripts


class Greeter(LoopbackHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        if self.path == "/fault":
            raise LookupError(self.path)
        self.send(200, {"X-Method": self.command}, b"hello")


@pytest.mark.parametrize("tls", [False, True])
def test_it_answers(tmp_path: Path, tls: bool) -> None:
    certificate = make_certificate(tmp_path) if tls else None
    with LoopbackServer(Greeter, certificate) as server:
        answer = requests.post(server.site, verify=str(certificate.chain) if certificate else True, timeout=30)
    assert (answer.text, answer.headers["X-Method"]) == ("hello", "POST")


def test_a_fault_of_the_handler_fails_the_block() -> None:
    with (
        pytest.raises(LookupError, match="/fault"),
        LoopbackServer(Greeter) as server,
        pytest.raises(requests.ConnectionError),
    ):
        requests.get(f"{server.site}/fault", timeout=30)


def test_connections_that_clients_keep_open_do_not_keep_it() -> None:
    with LoopbackServer(Greeter) as server, requests.Session() as session:
        assert [session.get(server.site, timeout=30).text for _ in range(2)] == ["hello", "hello"]
        assert server.connections == 1
        silent = socket.create_connection(("127.0.0.1", server.port))
    silent.close()
    assert server.connections in (1, 2)


def test_scripts() -> None:
    scripts: Scripts[str] = Scripts()
    scripts.add(("first", "second"), 2, None, None)
    scripts.add(("for /a",), float("inf"), "GET", "/a")
    assert [scripts.take("POST", "/b") for _ in range(5)] == ["first", "first", "second", "second", None]
    assert [scripts.take(*asked) for asked in (("GET", "/b"), ("POST", "/a"))] == [None, None]
    assert [scripts.take("GET", "/a") for _ in range(3)] == ["for /a"] * 3
