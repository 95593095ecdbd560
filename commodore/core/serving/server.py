"""A small HTTP server in threads."""

from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final

from commodore.base.errors import EnvironmentFault, UsageError

_LOOPBACK: Final = "127.0.0.1"
_LONGEST_BODY: Final = 1 << 20  # bytes
_REQUEST_SECONDS: Final = 5.0
_TEXT: Final = "text/plain; charset=utf-8"
METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of the Prometheus text format."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: its status, its content and the content's type."""

    status: int
    content: bytes
    type: str = _TEXT

    @classmethod
    def metrics(cls, content: bytes) -> Reply:
        """Return a response with metrics in the Prometheus text format."""
        return cls(200, content, METRICS)


def probe(good: bool) -> Reply:
    """Return the response of a probe."""
    return Reply(200, b"ok\n") if good else Reply(503, b"not ok\n")


@dataclass(frozen=True, slots=True)
class Routes:
    """The handlers of a server.

    Attributes:
        get: handlers of GET, by path. Called in the thread of the request, at any time.
        post: handlers of POST, by path; called with the body.
        token: the bearer token required for POST; empty refuses all.
    """

    get: Mapping[str, Callable[[], Reply]]
    post: Mapping[str, Callable[[bytes], Reply]] = field(default_factory=dict)
    token: str = field(default="", repr=False)


def read_address(text: str) -> tuple[str, int]:
    """Parse an address. `:8080` is loopback; all interfaces are `0.0.0.0:8080` or `[::]:8080`. Returns host and port.

    Raises:
        UsageError: CMD-SERVE-001, it is invalid.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(
            "CMD-SERVE-001",
            f"{text!r} is not an address to listen on",
            hint="give one like :8080 (this machine only), 0.0.0.0:8080 or [::]:8080 (all interfaces)",
        )
    return host.removeprefix("[").removesuffix("]") or _LOOPBACK, int(port)


@contextmanager
def serving(address: str, routes: Routes) -> Iterator[int]:
    """Serve as a context manager. The value is the port.

    Raises:
        UsageError: CMD-SERVE-001, the address is invalid.
        EnvironmentFault: CMD-SERVE-002, listening failed.
    """
    host, port = read_address(address)
    try:
        server = _Server(host, port, routes)
    except OSError as error:
        raise EnvironmentFault(
            "CMD-SERVE-002", f"cannot listen on {address}: {error.strerror}", hint="choose another address"
        ) from error
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="serving", daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Listener(ThreadingHTTPServer):
    """A server that stops with its process and ignores clients that disconnect.

    Args:
        only_v6: accept IPv6 only.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, handler: type[BaseHTTPRequestHandler], *, only_v6: bool = False) -> None:
        self._only_v6 = only_v6
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(self._only_v6))
        TCPServer.server_bind(self)  # without the name look-up of HTTPServer
        self.server_name, self.server_port = "localhost", int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class Handler(BaseHTTPRequestHandler):
    """A handler without a request log: the request line may hold a secret."""

    server_version, sys_version = "commodore", ""

    def send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """Send a response."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


def _made(make: Callable[[], Reply]) -> Reply:
    """Return the response of a handler, or status 500 for an exception: else the connection would close silently."""
    try:
        return make()
    except Exception as error:
        return Reply(500, f"internal error: {type(error).__name__}\n".encode())


class _Server(Listener):
    def __init__(self, host: str, port: int, routes: Routes) -> None:
        self.routes = routes
        super().__init__(host, port, _RoutesHandler)


class _RoutesHandler(Handler):
    server: _Server
    timeout = _REQUEST_SECONDS

    def do_GET(self) -> None:
        page = self.server.routes.get.get(self.path.partition("?")[0])
        self._reply(_made(page) if page is not None else Reply(404, b"no such page\n"))

    def do_POST(self) -> None:
        routes = self.server.routes
        path = self.path.partition("?")[0]
        length = self.headers.get("Content-Length", "0")
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if path not in routes.post:
            self._reply(Reply(405, b"only GET\n") if path in routes.get else Reply(404, b"no such page\n"))
        elif not routes.token or not hmac.compare_digest(given.encode(), routes.token.encode()):
            self._reply(Reply(401, b"the token is missing or wrong\n"))
        elif not (length.isascii() and length.isdigit()) or int(length) > _LONGEST_BODY:
            self._reply(Reply(413, b"the body is too large\n"))
        else:
            take, body = routes.post[path], self.rfile.read(int(length))
            self._reply(_made(lambda: take(body)))

    def _reply(self, reply: Reply) -> None:
        self.send(reply.status, {"Content-Type": reply.type}, reply.content)
