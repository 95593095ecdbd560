"""A Lieutenant API on loopback that knows some clusters and tenants and takes every report."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Objects = Sequence[Mapping[str, Any]]


@contextlib.contextmanager
def serve_api(clusters: Objects, tenants: Objects) -> Iterator[str]:
    """Serve these objects until the end of the block; gives the API's URL. No token is asked for."""
    answers: dict[str, Any] = {"": {}, "/clusters": list(clusters)}
    answers |= {f"/clusters/{each['id']}": each for each in clusters}
    answers |= {f"/tenants/{each['id']}": each for each in tenants}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answers))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(answers: Mapping[str, Any]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are written apart; without this a client that delays its acknowledgement waits for the body.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            answer = answers.get(self.path.partition("?")[0].rstrip("/"))
            if answer is None:
                self._send(404, {"reason": "not found"})
            else:
                self._send(200, answer)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(204)
            self.end_headers()

        def _send(self, status: int, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler
