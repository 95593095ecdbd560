"""Web servers on loopback for as long as something is measured."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, and logs nothing."""

    protocol_version = "HTTP/1.1"
    # Head and body are written apart; without this a client that delays its acknowledgement waits for the body.
    disable_nagle_algorithm = True

    def send(self, status: int, body: bytes = b"", kind: str | None = None) -> None:
        """A whole answer; `kind` is its media type."""
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serve(handler: type[Handler]) -> Iterator[str]:
    """Let this handler answer until the end of the block; gives the server's URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
