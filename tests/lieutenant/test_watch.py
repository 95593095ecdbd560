"""A whole answer has one time limit, however slowly it drips."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from commodore.errors import EnvironmentFault
from commodore.events import ignore
from commodore.lieutenant._http import Session
from commodore.lieutenant._watch import WatchedAdapter
from commodore.limits import Limits
from tests.world.certificates import make_certificate
from tests.world.lieutenant import LieutenantServer, cluster, slow


class Dripping:
    """A server that sends this, then a byte every tenth of a second until it is stopped."""

    def __init__(self, beginning: bytes) -> None:
        self._beginning = beginning
        self._stopping = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            connection.recv(4096)
            try:
                connection.sendall(self._beginning)
                while not self._stopping.wait(0.1):
                    connection.sendall(b"x")
            except OSError:
                return

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._server.close()


@pytest.fixture(params=[b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 "])
def dripping(request: pytest.FixtureRequest) -> Iterator[Dripping]:
    server = Dripping(request.param)
    yield server
    server.stop()


def test_an_answer_that_drips(dripping: Dripping) -> None:
    session = Session(5, Limits(response_seconds=0.5, request_attempts=1), ignore)
    with pytest.raises(EnvironmentFault, match=r"not complete after 0\.5 s") as caught:
        session.get(dripping.url, {})
    session.close()
    assert caught.value.code == "CMD-API-007"


def test_what_is_quick_is_not_cut() -> None:
    with LieutenantServer([cluster()]) as api:
        session = Session(5, Limits(response_seconds=5), ignore)
        assert [session.get(f"{api.url}/clusters/c-one", {}).status for _ in range(3)] == [200, 200, 200]
        session.close()
        assert api.connections == 1, "the connection is used again"


def test_encrypted_connections_are_cut_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path)
    with LieutenantServer(certificate=certificate) as api, requests.Session() as session:
        api.script(slow(30))
        adapter = WatchedAdapter()
        session.mount("https://", adapter)
        with pytest.raises(requests.ConnectionError), adapter.watched(0.3):
            session.get(api.url, verify=str(certificate.chain), timeout=20)
