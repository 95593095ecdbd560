"""Web servers on loopback: what the worlds that speak HTTP have in common.

A world is a `LoopbackServer` whose handler is a `LoopbackHandler`:

with SomeServer() as server:
    server.script(failing(503), times=2, path="/a")     # what the next requests get, where the world has scripts
    ...                                                 # use server.site
"""

from __future__ import annotations

import socket
import socketserver
import ssl
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from tests.world.certificates import Certificate

Answer = TypeVar("Answer")


class LoopbackHandler(BaseHTTPRequestHandler):
    """Answers one connection of `world`. By default each request has one of its own, so that none is left open."""

    world: LoopbackServer
    server: _Http

    def setup(self) -> None:
        self.world = self.server.world
        super().setup()

    def answer(self) -> None:
        """Answer one request, which is as the attributes of `http.server` have it."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self.answer()

    do_POST = do_PATCH = do_CONNECT = do_GET  # noqa: N815 - the names that http.server asks for

    def send(self, status: int, headers: Mapping[str, str] | None = None, body: bytes = b"") -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing; worlds remember what they were asked."""


class LoopbackServer:
    """Serves from `with` to the end of the block, in threads of its own. What its handler raises fails the block.

    Args:
        handler: what answers.
        certificate: serve https with it.
    """

    def __init__(self, handler: type[LoopbackHandler], certificate: Certificate | None = None) -> None:
        self.certificate = certificate
        self.connections = 0
        self.faults: list[BaseException] = []
        self.stopping = threading.Event()
        self._http = _Http(self, handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def site(self) -> str:
        """The URL of the server, without a slash at its end."""
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The URL that clients use: the site, unless a world has another one."""
        return self.site

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.hang_up()
        self._http.server_close()
        if kind is None and self.faults:
            raise self.faults[0]


@dataclass(slots=True)
class _Script(Generic[Answer]):
    reply: Answer
    left: float
    method: str | None
    path: str | None


class Scripts(Generic[Answer]):
    """Everything that coming requests get instead of the regular answer."""

    def __init__(self) -> None:
        self._scripts: list[_Script[Answer]] = []
        self._lock = threading.Lock()

    def add(self, replies: tuple[Answer, ...], times: float, method: str | None, path: str | None) -> None:
        """Answer requests of this method and path (None: of any) by these replies in order, each `times` times."""
        with self._lock:
            self._scripts += [_Script(reply, times, method, path) for reply in replies]

    def take(self, method: str, path: str) -> Answer | None:
        """The reply to one such request; None for the regular one."""
        with self._lock:
            for script in self._scripts:
                if script.left > 0 and script.method in (None, method) and script.path in (None, path):
                    script.left -= 1
                    return script.reply
        return None


class _Http(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, world: LoopbackServer, handler: type[LoopbackHandler]) -> None:
        self.world = world
        self._open: set[socket.socket] = set()
        self._tls: ssl.SSLContext | None = None
        if world.certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(world.certificate.chain, world.certificate.key)
        super().__init__(("127.0.0.1", 0), handler)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # without the name look-up of HTTPServer
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, peer = super().get_request()
        self.world.connections += 1
        if self._tls:  # the handshake happens at the first read, in the connection's own thread
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self._open.add(connection)
        return connection, peer

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End the connections that clients keep open, so that their threads end."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        fault = sys.exc_info()[1]
        if fault is not None and not isinstance(fault, OSError):  # clients that go away are not this server's fault
            self.world.faults.append(fault)
